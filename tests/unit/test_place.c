/* SPDX-License-Identifier: MIT */
/*
 * test_place.c - addresses, the token's file, the server's lock.
 */
#include "dashboard/address.h"
#include "dashboard/lockfile.h"
#include "dashboard/token.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[] = "/tmp/heaptap-place-XXXXXX";

static int setup(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	static const char *const names[] = {"token", "own", "server.lock", "socket"};
	char path[128];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		unlink(path);
	}
	return rmdir(dir);
}

static void test_addresses(void **state)
{
	static const struct {
		const char *text;
		int err;
		const char *host, *url;
		unsigned port;
	} cases[] = {
		{"127.0.0.1:4327", 0, "127.0.0.1", "http://127.0.0.1:4327", 4327},
		{"0.0.0.0:80", 0, "0.0.0.0", "http://127.0.0.1:80", 80},
		{"[::]:80", 0, "::", "http://[::1]:80", 80},
		{"[fe80::1]:80", 0, "fe80::1", "http://[fe80::1]:80", 80},
		{"box.example:65535", 0, "box.example", "http://box.example:65535", 65535},
		{"unix:/run/x.sock", 0, "/run/x.sock", "", 0},
		{"", -EINVAL, NULL, NULL, 0},
		{"off", -EINVAL, NULL, NULL, 0},
		{"4327", -EINVAL, NULL, NULL, 0},
		{":4327", -EINVAL, NULL, NULL, 0},
		{"host:", -EINVAL, NULL, NULL, 0},
		{"host:0", -EINVAL, NULL, NULL, 0},
		{"host:65536", -EINVAL, NULL, NULL, 0},
		{"host:-1", -EINVAL, NULL, NULL, 0},
		{"host:80x", -EINVAL, NULL, NULL, 0},
		{"ho st:80", -EINVAL, NULL, NULL, 0},
		{"http://host:80", -EINVAL, NULL, NULL, 0},
		{"::1:80", -EINVAL, NULL, NULL, 0},
		{"[::1]", -EINVAL, NULL, NULL, 0},
		{"[nothing]:80", -EINVAL, NULL, NULL, 0},
		{"unix:relative", -EINVAL, NULL, NULL, 0},
		{"unix:", -EINVAL, NULL, NULL, 0},
		{"unix:/a\nlisten b", -EINVAL, NULL, NULL, 0},
	};
	char long_path[200] = "unix:/";
	struct address address;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char url[160];

		assert_int_equal(address_parse(cases[i].text, &address), cases[i].err);
		if (cases[i].err)
			continue;
		assert_string_equal(address.host, cases[i].host);
		assert_int_equal(address.port, cases[i].port);
		address_url(cases[i].text, url, sizeof url);
		assert_string_equal(url, cases[i].url);
	}
	memset(long_path + 6, 'x', 110);
	assert_int_equal(address_parse(long_path, &address), -EINVAL);
}

static void test_names(void **state)
{
	struct address address;

	(void)state;
	address_parse("127.0.0.1:1", &address);
	assert_null(address_name(&address));
	address_parse("[::1]:1", &address);
	assert_null(address_name(&address));
	address_parse("unix:/x", &address);
	assert_null(address_name(&address));
	address_parse("box:1", &address);
	assert_string_equal(address_name(&address), "box");
}

static void test_listen(void **state)
{
	struct address address;
	bool loopback = false;
	uint16_t first = 0, second = 0;
	int one, other;

	(void)state;
	one = address_listen_default(&first);
	other = address_listen_default(&second);
	if (one < 0 || other < 0)
		skip(); /* all 64 are taken */
	assert_in_range(first, ADDRESS_PORT_FIRST, ADDRESS_PORT_LAST);
	assert_true(second > first);
	assert_true(fcntl(one, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(one, F_GETFL) & O_NONBLOCK);
	address = (struct address){.host = "127.0.0.1", .port = first};
	assert_int_equal(address_listen(&address, false, NULL), -EADDRINUSE);
	close(one);
	one = address_listen(&address, false, &loopback);
	assert_true(one >= 0 && loopback);
	close(one);
	close(other);
	address = (struct address){.host = "0.0.0.0", .port = first};
	assert_int_equal(address_listen(&address, false, NULL), -EPERM);
	one = address_listen(&address, true, &loopback);
	assert_true(one >= 0 && !loopback);
	close(one);
}

static void test_unix_socket(void **state)
{
	struct address address = {.is_unix = true};
	struct stat status;
	int one, other;

	(void)state;
	snprintf(address.host, sizeof address.host, "%s/socket", dir);
	one = address_listen(&address, false, NULL);
	assert_true(one >= 0);
	assert_int_equal(stat(address.host, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(address_listen(&address, false, NULL), -EADDRINUSE);
	close(one); /* as if killed: the file stays */
	other = address_listen(&address, false, NULL);
	assert_true(other >= 0);
	close(other);
	unlink(address.host);
	close(open(address.host, O_CREAT | O_WRONLY, 0600)); /* not a socket: not ours to remove */
	assert_int_equal(address_listen(&address, false, NULL), -EADDRINUSE);
	unlink(address.host);
}

static void put(const char *path, const char *text, mode_t mode)
{
	int fd;

	unlink(path);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	fchmod(fd, mode);
	close(fd);
}

static void test_token(void **state)
{
	char path[128], own[128], token[TOKEN_MAX + 1], again[TOKEN_MAX + 1];
	struct stat status;

	(void)state;
	snprintf(path, sizeof path, "%s/token", dir);
	snprintf(own, sizeof own, "%s/own", dir);
	assert_int_equal(token_read(path, token), -ENOENT);
	assert_int_equal(token_make(path, token), 0);
	assert_int_equal(strlen(token), 64);
	assert_int_equal(strspn(token, "0123456789abcdef"), 64);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(token_make(path, again), 0);
	assert_string_equal(token, again);
	put(own, " \n a token of sixteen\n\n", 0640);
	assert_int_equal(token_read(own, token), -EINVAL);
	put(own, " \n0123456789abcdef\r\n\n", 0640);
	assert_int_equal(token_read(own, token), 0);
	assert_string_equal(token, "0123456789abcdef");
	put(own, "0123456789abcde", 0600);
	assert_int_equal(token_make(own, token), -EINVAL);
	put(own, "", 0600);
	assert_int_equal(token_read(own, token), -EINVAL);
	put(own, "0123456789abcdef", 0644);
	assert_int_equal(token_read(own, token), -EPERM);
	put(own, "0123456789abcdef", 0660);
	assert_int_equal(token_read(own, token), -EPERM);
	assert_int_equal(token_read(dir, token), -EPERM);
	assert_int_equal(token_make("/nonexistent/token", token), -ENOENT);
}

static void test_lock(void **state)
{
	struct lockfile_info info;
	struct buf content = {0};
	char path[128], address[128], message[512];
	int lock, probe;

	(void)state;
	assert_int_equal(lockfile_read(dir, &info), 0);
	assert_false(info.alive);
	lock = lockfile_take(dir);
	assert_true(lock >= 0);
	assert_int_equal(lockfile_take(dir), -EWOULDBLOCK);
	buf_add_text(&content, "pid 42\nlisten 127.0.0.1:4327\ntoken /x y\nunknown 1\n"
			       "family 7-a 127.0.0.1:1\nfamily 7-ab unix:/s\nfamily broken\n"
			       "problem 7-b HEAPTAP_LISTEN=x: no; see it\n");
	assert_int_equal(lockfile_write(lock, &content), 0);
	assert_int_equal(lockfile_read(dir, &info), 0);
	assert_true(info.alive);
	assert_int_equal(info.pid, 42);
	assert_string_equal(info.listen, "127.0.0.1:4327");
	assert_string_equal(info.token, "/x y");
	assert_string_equal(lockfile_family(&info, "7-ab", address), "unix:/s");
	assert_string_equal(lockfile_family(&info, "7-a", address), "127.0.0.1:1");
	assert_null(lockfile_family(&info, "7", address));
	assert_string_equal(lockfile_problem(&info, "7-b", message),
			    "HEAPTAP_LISTEN=x: no; see it");
	assert_null(lockfile_problem(&info, "7-a", message));
	assert_null(lockfile_family(&info, "broken", address));
	lockfile_destroy(&info);
	buf_destroy(&content);
	lockfile_release(lock);
	assert_int_equal(lockfile_read(dir, &info), 0);
	assert_false(info.alive);
	/* An agent that looks for an instant is not a server. */
	snprintf(path, sizeof path, "%s/server.lock", dir);
	probe = open(path, O_RDONLY);
	assert_int_equal(flock(probe, LOCK_SH), 0);
	if (fork() == 0) {
		usleep(30000);
		_exit(0); /* the last one to hold it */
	}
	close(probe);
	lock = lockfile_take(dir);
	assert_true(lock >= 0);
	lockfile_release(lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses), cmocka_unit_test(test_names),
		cmocka_unit_test(test_listen),	  cmocka_unit_test(test_unix_socket),
		cmocka_unit_test(test_token),	  cmocka_unit_test(test_lock),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
