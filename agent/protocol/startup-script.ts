// The files of a startup script in its guest: the seed writes the script, a wrapper runs it once and leaves its result,
// and the guest agent reads that.

const DIRECTORY = '/var/lib/berth'
export const startupFiles = {
  script: `${DIRECTORY}/startup-script`,
  output: `${DIRECTORY}/startup-output`,
  /** Appears last: the result is whole then. */
  exitCode: `${DIRECTORY}/startup-exit-code`,
} as const
/** The bytes of its output that are stored. */
export const MOST_STARTUP_OUTPUT_BYTES = 64 << 10

/**
 * The shell command that runs the script. It reads all that the script writes and stores the beginning, so that a long
 * output neither ends the script nor fills the disk.
 */
export const STARTUP_COMMAND =
  `cd /; { { ${startupFiles.script} </dev/null 2>&1 3>&-; echo $? >&3; } | ` +
  `{ head -c ${MOST_STARTUP_OUTPUT_BYTES} >${startupFiles.output}; cat >/dev/null; }; } ` +
  `3>${startupFiles.exitCode}.new; mv ${startupFiles.exitCode}.new ${startupFiles.exitCode}`
