/* SPDX-License-Identifier: MIT */
/* test_config.c - every HEAPTAP_ variable with good and bad values. */
#include "agent/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct config read_one(const char *variable)
{
	char *environment[] = {"PATH=/bin", (char *)variable, "HEAPTAPX=1", NULL};
	struct config config;

	config_read(&config, environment);
	return config;
}

static void test_defaults(void **state)
{
	struct config config;

	(void)state;
	config_read(&config, NULL);
	assert_false(config.off);
	assert_true(config.serve);
	assert_true(config.follow_forks);
	assert_false(config.keep);
	assert_int_equal(config.memory, 8 << 20);
	assert_string_equal(config.dir, "");
	assert_string_equal(config.listen, "");
	assert_int_equal(config.problem_count, 0);
}

static void test_bad_values(void **state)
{
	static const char *const bad[] = {
		"HEAPTAP=yes",
		"HEAPTAP_LISTEN=4327",
		"HEAPTAP_LISTEN=:4327",
		"HEAPTAP_LISTEN=127.0.0.1:",
		"HEAPTAP_LISTEN=127.0.0.1:0",
		"HEAPTAP_LISTEN=127.0.0.1:65536",
		"HEAPTAP_LISTEN=127.0.0.1:12x",
		"HEAPTAP_LISTEN=a b:80",
		"HEAPTAP_LISTEN=unix:relative",
		"HEAPTAP_MEMORY=0",
		"HEAPTAP_MEMORY=1023k",
		"HEAPTAP_MEMORY=2G",
		"HEAPTAP_MEMORY=8MB",
		"HEAPTAP_MEMORY=-1",
		"HEAPTAP_MEMORY=99999999999999999999999",
		"HEAPTAP_MEMORY=M",
		"HEAPTAP_DIR=relative",
		"HEAPTAP_TOKEN_FILE=relative",
		"HEAPTAP_LOG=relative",
		"HEAPTAP_KEEP=yes",
		"HEAPTAP_CHILDREN=on",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct config config = read_one(bad[i]);

		assert_int_equal(config.problem_count, 1);
		assert_int_equal(config.problems[0].code, SEG_PROBLEM_SETTING);
		assert_string_equal(config.problems[0].text, bad[i]);
		config.problem_count = 0;
		memset(config.problems, 0, sizeof(config.problems));
		assert_int_equal(config.memory, CONFIG_MEMORY_DEFAULT);
		assert_true(config.serve && config.follow_forks && !config.keep && !config.off);
		assert_true(!config.listen[0] && !config.dir[0] && !config.log[0]);
	}
}

static void test_good_values(void **state)
{
	(void)state;
	assert_true(read_one("HEAPTAP=off").off);
	assert_false(read_one("HEAPTAP=on").off);
	assert_false(read_one("HEAPTAP_LISTEN=off").serve);
	assert_string_equal(read_one("HEAPTAP_LISTEN=[::1]:80").listen, "[::1]:80");
	assert_string_equal(read_one("HEAPTAP_LISTEN=unix:/a b").listen, "unix:/a b");
	assert_int_equal(read_one("HEAPTAP_MEMORY=1M").memory, 1 << 20);
	assert_int_equal(read_one("HEAPTAP_MEMORY=1024k").memory, 1 << 20);
	assert_int_equal(read_one("HEAPTAP_MEMORY=1G").memory, 1 << 30);
	assert_int_equal(read_one("HEAPTAP_MEMORY=2000000").memory, 2000000);
	assert_string_equal(read_one("HEAPTAP_DIR=/dev/shm/x").dir, "/dev/shm/x");
	assert_true(read_one("HEAPTAP_KEEP=1").keep);
	assert_false(read_one("HEAPTAP_CHILDREN=off").follow_forks);
	/* an empty value is as good as none */
	assert_int_equal(read_one("HEAPTAP_MEMORY=").problem_count, 0);
	assert_int_equal(read_one("HEAPTAP=").problem_count, 0);
}

static void test_unknown_setting(void **state)
{
	struct config config = read_one("HEAPTAP_LISTNE=off");

	(void)state;
	assert_int_equal(config.problem_count, 1);
	assert_int_equal(config.problems[0].code, SEG_PROBLEM_UNKNOWN_SETTING);
	assert_string_equal(config.problems[0].text, "HEAPTAP_LISTNE");
}

static void test_long_values_are_cut(void **state)
{
	char variable[4096] = "HEAPTAP_DIR=/";
	struct config config;

	(void)state;
	memset(variable + 13, 'x', sizeof(variable) - 14);
	config = read_one(variable);
	assert_int_equal(config.problem_count, 1);
	assert_int_equal(strlen(config.problems[0].text), sizeof(config.problems[0].text) - 1);
	assert_string_equal(config.dir, "");
}

static void test_more_problems_than_room(void **state)
{
	char *environment[SEG_PROBLEMS + 6];
	struct config config;

	(void)state;
	for (size_t i = 0; i < SEG_PROBLEMS + 5; i++)
		environment[i] = "HEAPTAP_KEEP=2";
	environment[SEG_PROBLEMS + 5] = NULL;
	config_read(&config, environment);
	assert_int_equal(config.problem_count, SEG_PROBLEMS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_bad_values),
		cmocka_unit_test(test_good_values),
		cmocka_unit_test(test_unknown_setting),
		cmocka_unit_test(test_long_values_are_cut),
		cmocka_unit_test(test_more_problems_than_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
