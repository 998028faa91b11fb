// SPDX-License-Identifier: MIT
//
// no_pie.cpp - built at a fixed address, where the address of a function of a library is a stub in
// the program itself. Makes 1,000 times new char[100], prints "ready" and waits for the end of its
// stdin.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <unistd.h>

void *(*volatile allocate)(std::size_t) = std::malloc;
void *(*volatile operate)(std::size_t) = ::operator new;

__attribute__((noinline)) static void *take()
{
	char *block = new char[100];

	*static_cast<volatile char *>(block) = 1;
	return block;
}

int main()
{
	char byte;

	for (int i = 0; i < 1000; i++)
		delete[] static_cast<char *>(take());
	std::puts("ready");
	std::fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	return !allocate || !operate;
}
