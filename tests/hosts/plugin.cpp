/* SPDX-License-Identifier: MIT */
/*
 * plugin.cpp - a C++ library that threads.c loads at run time, with TLS of its own.
 *
 * It brings libstdc++ into a C program whose hooks for operator new were bound before.
 */
#include <string>
#include <vector>

static thread_local std::vector<std::string> kept;

extern "C" int plugin_work(int rounds)
{
	int thrown = 0;

	kept.clear();
	for (int i = 0; i < rounds; i++) {
		kept.emplace_back(100, static_cast<char>('a' + i % 26));
		try {
			throw std::string("thrown");
		} catch (const std::string &) {
			thrown++;
		}
	}
	return thrown;
}
