# cmake -DNPM=... -DFOLDER=... -P npm_ci.cmake: npm ci in FOLDER, once per package-lock.json.
# node_modules is shared by all build folders, so builds that run at the same time take turns.
set(stamp ${FOLDER}/node_modules/.heaptap-lock-sha256)
file(SHA256 ${FOLDER}/package-lock.json wanted)
file(LOCK ${FOLDER}/.npm-ci.lock GUARD PROCESS TIMEOUT 600)
if(EXISTS ${stamp})
	file(READ ${stamp} have)
endif()
if(NOT have STREQUAL wanted)
	# No install scripts: nothing here needs one, and they are code of others.
	execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund
		WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE status OUTPUT_QUIET)
	if(status)
		message(FATAL_ERROR "npm ci failed in ${FOLDER} (${status}). The page can also be taken "
			"prebuilt: -DHEAPTAP_WEB_DIST=/path/to/dist")
	endif()
	file(WRITE ${stamp} ${wanted})
endif()
