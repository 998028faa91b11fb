// SPDX-License-Identifier: MIT
//
// own_new.cpp - replaces operator new and delete in their basic forms only, with a header before
// each block, as programs do that keep their own account. The other forms are to come here too.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

static int blocks;

void *operator new(std::size_t size)
{
	char *block = static_cast<char *>(std::malloc(size + 16));

	if (!block)
		throw std::bad_alloc();
	std::memcpy(block, "own new", 8);
	blocks++;
	return block + 16;
}

void operator delete(void *block) noexcept
{
	if (!block)
		return;
	char *start = static_cast<char *>(block) - 16;
	if (std::strcmp(start, "own new") != 0)
		std::abort();
	blocks--;
	std::free(start);
}

struct node {
	int values[10];
	~node()
	{
		values[0] = 0;
	}
};

int main()
{
	delete new node;
	delete[] new node[3];
	delete new (std::nothrow) node;
	{
		std::string text(100, 'x');
		std::vector<int> numbers(1000);
	}
	std::puts(blocks == 0 ? "ok" : "blocks are left");
	return 0;
}
