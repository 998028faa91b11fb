/* SPDX-License-Identifier: MIT */
/*
 * cxx_service.cpp - a C++ program under load: what its page must name is the caller of new here,
 * not libstdc++.
 *
 * Works until its stdin ends; prints "ready" first.
 */
#include <memory>
#include <poll.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace service
{
struct reply {
	char body[200];
};

__attribute__((noinline)) std::unique_ptr<reply> build_reply()
{
	return std::make_unique<reply>();
}

__attribute__((noinline)) reply *build_many()
{
	auto *many = new reply[3];

	/* As a tail call, new would seem to be called by build_many's own caller. */
	asm volatile("" : : "r"(many) : "memory");
	return many;
}
} /* namespace service */

int main()
{
	struct pollfd end = {0, POLLIN | POLLHUP, 0};

	if (write(1, "ready\n", 6) != 6)
		return 1;
	while (poll(&end, 1, 1) == 0)
		for (int i = 0; i < 100; i++) {
			auto reply = service::build_reply();
			auto *many = service::build_many();

			reply->body[0] = many[0].body[0] = static_cast<char>(i);
			asm volatile("" : : "r"(reply.get()), "r"(many) : "memory");
			delete[] many;
		}
	return 0;
}
