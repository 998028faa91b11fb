/* SPDX-License-Identifier: MIT */
/*
 * model.c - questions that the model answers about itself.
 */
#include "dashboard/model.h"

double model_rate(uint64_t total, uint64_t base, uint64_t window_ns)
{
	if (window_ns == 0 || total <= base)
		return 0;
	return (double)(total - base) * 1e9 / (double)window_ns;
}

static bool family_holds(const struct family *family, int32_t pid)
{
	for (size_t i = 0; i < family->process_count; i++)
		if (family->processes[i].pid == pid)
			return true;
	return false;
}

/* The better a match, the higher: a living process of that pid is surely the one that is meant;
 * among ended ones, a family's own pid comes before a child's. */
static int match(const struct family *family, int32_t pid)
{
	bool own = family->pid == pid;

	if (!own && !family_holds(family, pid))
		return 0;
	return (family->ended ? 1 : 3) + (own ? 1 : 0);
}

const struct family *model_find(const struct model *model, int32_t pid)
{
	const struct family *found = NULL;
	int best = 0;

	for (size_t i = 0; i < model->family_count; i++) {
		int quality = match(&model->families[i], pid);

		if (quality > best) {
			best = quality;
			found = &model->families[i];
		}
	}
	return found;
}
