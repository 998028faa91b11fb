/* SPDX-License-Identifier: MIT */
/*
 * late_daemon.c - becomes a daemon by exit() of its parent, and does not touch the heap until a
 *byte comes through a FIFO. Then 1,000 times malloc(100) and free, and it waits for the FIFO's end.
 *
 *	late_daemon FIFO
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char byte;
	int fifo;

	if (argc != 2)
		return 2;

	free(malloc(10));
	switch (fork()) {
	case -1:
		_exit(20);
	case 0:
		break;
	default:
		exit(0);
	}
	setsid();
	fifo = open(argv[1], O_RDONLY);
	if (fifo < 0 || read(fifo, &byte, 1) != 1)
		_exit(21);
	for (int i = 0; i < 1000; i++)
		free(malloc(100));
	while (read(fifo, &byte, 1) > 0)
		;
	return 0;
}
