# cmake -DNPM=... -DWEB=... -P npm_ci.cmake: npm ci in the source folder, once per package-lock.json.
# node_modules is shared by all build folders, so builds that run at the same time take turns.
set(stamp ${WEB}/node_modules/.heaptap-lock-sha256)
file(SHA256 ${WEB}/package-lock.json wanted)
file(LOCK ${WEB}/.npm-ci.lock GUARD PROCESS TIMEOUT 600)
if(EXISTS ${stamp})
	file(READ ${stamp} have)
endif()
if(NOT have STREQUAL wanted)
	# No install scripts: nothing here needs one, and they are code of others.
	execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund
		WORKING_DIRECTORY ${WEB} RESULT_VARIABLE status OUTPUT_QUIET)
	if(status)
		message(FATAL_ERROR "npm ci failed in ${WEB} (${status}). Without a registry, give a prebuilt "
			"page: cmake -DHEAPTAP_WEB_DIST=/path/to/dist")
	endif()
	file(WRITE ${stamp} ${wanted})
endif()
