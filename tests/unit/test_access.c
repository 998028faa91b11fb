/* SPDX-License-Identifier: MIT */
/*
 * test_access.c - who may ask: the Host header, the token, the peer's uid.
 */
#include "dashboard/access.h"
#include "dashboard/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#define TOKEN "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_hosts(void **state)
{
	static const struct {
		const char *host;
		const char *named;
		bool allowed;
	} cases[] = {
		{"localhost", NULL, true},
		{"localhost:4327", NULL, true},
		{"LocalHost:1", NULL, true},
		{"localhost.", NULL, true},
		{"a.localhost:80", NULL, true},
		{"a.b.localhost", NULL, true},
		{"127.0.0.1", NULL, true},
		{"127.0.0.1:65535", NULL, true},
		{"192.168.1.5:80", NULL, true},
		{"[::1]", NULL, true},
		{"[::1]:4327", NULL, true},
		{"[2001:db8::1]:4327", NULL, true},
		{"box.example:80", "box.example", true},
		{"BOX.example", "box.EXAMPLE", true},
		{"box.example.", "box.example", true},
		{"", NULL, false},
		{":80", NULL, false},
		{"evil.example", NULL, false},
		{"evil.example", "box.example", false},
		{"evil.example:4327", NULL, false},
		{"localhost.evil.example", NULL, false},
		{"evillocalhost", NULL, false},
		{".localhost", NULL, false},
		{"127.0.0.1.evil.example", NULL, false},
		{"127.0.0.1.", NULL, true},
		{"127.0.0.1:80.evil.example", NULL, false},
		{"127.0.0.1:", NULL, false},
		{"127.0.0.1:123456", NULL, false},
		{"127.1", NULL, false},
		{"2130706433", NULL, false},
		{"0x7f000001", NULL, false},
		{"localhost@evil.example", NULL, false},
		{"localhost evil.example", NULL, false},
		{"[::1", NULL, false},
		{"[::1]evil.example", NULL, false},
		{"[::1].evil.example:80", NULL, false},
		{"[::1]:", NULL, false},
		{"[::1%25eth0]", NULL, false},
		{"[]", NULL, false},
		{"::1", NULL, false},
		{"xn--", "", false},
	};
	char long_host[2000];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (access_host_allowed(cases[i].host, cases[i].named) != cases[i].allowed)
			fail_msg("'%s'", cases[i].host);
	memset(long_host, 'a', sizeof long_host);
	strcpy(long_host + sizeof long_host - 11, ".localhost");
	assert_false(access_host_allowed(long_host, NULL));
}

static void test_token(void **state)
{
	(void)state;
	assert_true(access_token_matches("Bearer " TOKEN, TOKEN));
	assert_true(access_token_matches("bearer  " TOKEN, TOKEN));
	assert_false(access_token_matches(NULL, TOKEN));
	assert_false(access_token_matches("", TOKEN));
	assert_false(access_token_matches("Bearer", TOKEN));
	assert_false(access_token_matches("Bearer ", TOKEN));
	assert_false(access_token_matches("Bearer ", ""));
	assert_false(access_token_matches("Basic " TOKEN, TOKEN));
	assert_false(access_token_matches(TOKEN, TOKEN));
	assert_false(access_token_matches("Bearer " TOKEN "0", TOKEN));
	assert_false(access_token_matches("Bearer " TOKEN TOKEN, TOKEN));
	assert_false(access_token_matches("Bearer 0123456789abcdef", TOKEN));
	assert_false(access_token_matches("Bearer " TOKEN " ", TOKEN));
	assert_false(access_token_matches("Bearer X123456789abcdef0123456789abcdef"
					  "0123456789abcdef0123456789abcdef",
					  TOKEN));
}

static const char *const tokens[] = {NULL, TOKEN, "another token of the user"};

static struct access_query query(uint32_t own, bool known, uint32_t peer, bool local)
{
	return (struct access_query){.local = local,
				     .peer_known = known,
				     .peer_uid = peer,
				     .own_uid = own,
				     .host = "localhost:4327",
				     .tokens = tokens,
				     .token_count = 3};
}

static void test_peers(void **state)
{
	static const struct {
		uint32_t own;
		bool known;
		uint32_t peer;
		bool local;
		enum access_verdict verdict;
	} cases[] = {
		{1000, true, 1000, true, ACCESS_GRANTED},
		{1000, true, 0, true, ACCESS_GRANTED},
		{1000, true, 1001, true, ACCESS_NO_RIGHT},
		{0, true, 0, true, ACCESS_GRANTED},
		{0, true, 1000, true, ACCESS_NO_RIGHT},
		{0, false, 0, true, ACCESS_NO_RIGHT}, /* not found out: 0 means nothing */
		{1000, false, 1000, true, ACCESS_NO_RIGHT},
		{1000, true, 1000, false, ACCESS_NO_RIGHT},
		{0, true, 0, false, ACCESS_NO_RIGHT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct access_query one =
			query(cases[i].own, cases[i].known, cases[i].peer, cases[i].local);

		assert_int_equal(access_check(&one), cases[i].verdict);
		one.authorization = "Bearer wrong";
		assert_int_equal(access_check(&one), cases[i].verdict);
		one.authorization = "Bearer " TOKEN;
		assert_int_equal(access_check(&one), ACCESS_GRANTED);
		one.authorization = "Bearer another token of the user";
		assert_int_equal(access_check(&one), ACCESS_GRANTED);
	}
}

static void test_verdicts(void **state)
{
	struct access_query one = query(1000, true, 1000, true);

	(void)state;
	one.host = "evil.example";
	assert_int_equal(access_check(&one), ACCESS_WRONG_HOST);
	one.open_path = true;
	assert_int_equal(access_check(&one), ACCESS_WRONG_HOST);
	one.authorization = "Bearer " TOKEN; /* Prometheus, by a name of its own */
	assert_int_equal(access_check(&one), ACCESS_GRANTED);
	one = query(1000, true, 1001, true);
	one.open_path = true;
	assert_int_equal(access_check(&one), ACCESS_GRANTED);
	one = query(1000, true, 1000, true);
	one.host = NULL; /* HTTP/1.0: no browser */
	assert_int_equal(access_check(&one), ACCESS_GRANTED);
	one = query(1000, true, 1001, true);
	one.tokens = NULL;
	one.token_count = 0;
	one.authorization = "Bearer ";
	assert_int_equal(access_check(&one), ACCESS_NO_RIGHT);
}

struct pair {
	int listener;
	int client;
	int server;
};

/* A connection from `from` to `to`, texts of one family. */
static bool connect_pair(struct pair *pair, int family, const char *listen_at, const char *to)
{
	struct sockaddr_storage address = {.ss_family = (sa_family_t)family};
	struct sockaddr_in6 *ipv6 = (struct sockaddr_in6 *)&address;
	struct sockaddr_in *ipv4 = (struct sockaddr_in *)&address;
	void *place = family == AF_INET ? (void *)&ipv4->sin_addr : (void *)&ipv6->sin6_addr;
	socklen_t size = family == AF_INET ? sizeof *ipv4 : sizeof *ipv6;

	inet_pton(family, listen_at, place);
	pair->listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (pair->listener < 0 || bind(pair->listener, (struct sockaddr *)&address, size) ||
	    listen(pair->listener, 4))
		return false;
	getsockname(pair->listener, (struct sockaddr *)&address, &size);
	inet_pton(family, to, place);
	pair->client = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(pair->client, (struct sockaddr *)&address, size))
		return false;
	pair->server = accept(pair->listener, NULL, NULL);
	return pair->server >= 0;
}

static void close_pair(struct pair *pair)
{
	close(pair->listener);
	close(pair->client);
	close(pair->server);
}

static void test_tcp_peers(void **state)
{
	static const struct {
		int family;
		const char *listen_at, *to;
	} cases[] = {
		{AF_INET, "127.0.0.1", "127.0.0.1"},
		{AF_INET, "0.0.0.0", "127.5.6.7"},
		{AF_INET6, "::1", "::1"},
		{AF_INET6, "::", "::ffff:127.0.0.1"},
	};
	int diag = peer_open();

	(void)state;
	if (diag < 0)
		skip();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct pair pair;
		struct peer peer;

		if (!connect_pair(&pair, cases[i].family, cases[i].listen_at, cases[i].to))
			continue; /* no IPv6 here */
		peer = peer_of(diag, pair.server);
		assert_true(peer.local);
		assert_true(peer.known);
		assert_int_equal(peer.uid, geteuid());
		peer = peer_of(-1, pair.server);
		assert_true(peer.local);
		assert_false(peer.known);
		close_pair(&pair);
	}
	close(diag);
}

/* The kernel says uid 0 of a socket that its owner has closed: nobody may become root by that. */
static void test_closed_peer_is_unknown(void **state)
{
	int diag = peer_open();
	struct pair pair;

	(void)state;
	if (diag < 0)
		skip();
	assert_true(connect_pair(&pair, AF_INET, "127.0.0.1", "127.0.0.1"));
	assert_int_equal(write(pair.client, "GET / HTTP/1.0\r\n\r\n", 18), 18);
	close(pair.client);
	pair.client = -1;
	assert_false(peer_of(diag, pair.server).known);
	close_pair(&pair);
	close(diag);
}

/* Half closed is still held by its owner. */
static void test_half_closed_peer_is_known(void **state)
{
	int diag = peer_open();
	struct pair pair;

	(void)state;
	if (diag < 0)
		skip();
	assert_true(connect_pair(&pair, AF_INET, "127.0.0.1", "127.0.0.1"));
	shutdown(pair.client, SHUT_WR);
	assert_true(peer_of(diag, pair.server).known);
	close_pair(&pair);
	close(diag);
}

static void test_other_user(void **state)
{
	int diag = peer_open();
	struct pair pair;
	struct peer peer;
	int status;
	pid_t child;

	(void)state;
	if (diag < 0 || geteuid() != 0)
		skip();
	child = fork(); /* the socket belongs to whom makes it */
	if (child == 0) {
		if (setegid(65534) || seteuid(65534))
			_exit(2);
		if (!connect_pair(&pair, AF_INET, "127.0.0.1", "127.0.0.1"))
			_exit(3);
		peer = peer_of(diag, pair.server);
		_exit(peer.known && peer.uid == 65534 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(diag);
}

static void test_unix_peer(void **state)
{
	int sockets[2];
	struct peer peer;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	peer = peer_of(-1, sockets[0]);
	assert_true(peer.local && peer.known);
	assert_int_equal(peer.uid, geteuid());
	close(sockets[0]);
	close(sockets[1]);
	peer = peer_of(-1, sockets[0]);
	assert_false(peer.local || peer.known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_token),
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_tcp_peers),
		cmocka_unit_test(test_closed_peer_is_unknown),
		cmocka_unit_test(test_half_closed_peer_is_known),
		cmocka_unit_test(test_other_user),
		cmocka_unit_test(test_unix_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
