/* SPDX-License-Identifier: MIT */
/*
 * adopter.c - becomes a subreaper, execs itself with LD_PRELOAD set to ADOPTER_PRELOAD, has a child
 * and waits until it has none any more. Prints "ok".
 */
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 2) {
		char *arguments[] = {argv[0], "again", NULL};

		if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) ||
		    setenv("LD_PRELOAD", getenv("ADOPTER_PRELOAD"), 1))
			_exit(20);
		execv(argv[0], arguments);
		_exit(21);
	}
	free(malloc(100));
	if (!fork())
		_exit(0);
	while (wait(NULL) > 0)
		;
	return write(1, "ok\n", 3) == 3 ? 0 : 22;
}
