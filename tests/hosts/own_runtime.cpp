// SPDX-License-Identifier: MIT
//
// own_runtime.cpp - a plugin that has the C++ runtime in itself. What it throws, it catches.
#include <cstdio>
#include <new>

extern "C" int plugin_work(int rounds)
{
	volatile std::size_t size = std::size_t(1) << 60;
	int caught = 0;

	for (int i = 0; i < rounds; i++) {
		try {
			delete[] new char[size];
		} catch (const std::bad_alloc &) {
			caught++;
		}
		delete[] new char[100];
		if (new (std::nothrow) char[size])
			return -1;
	}
	return caught;
}
