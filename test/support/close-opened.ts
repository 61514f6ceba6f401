// bunfig.toml loads this before the tests: the workers of a parallel run have no event for their own end.
import { afterAll, setDefaultTimeout } from 'bun:test'
import { readFileSync } from 'node:fs'
import { closeOpened } from './opened.ts'

/** Replaces this process. Bun has it, its types lack it. */
type Executing = { execve(path: string, args: string[], env: NodeJS.ProcessEnv): never }
/** The longest test that sets no limit takes some 5 s alone on two cores; a machine may be busy with much else. */
export const USUAL_LIMIT_MS = 60_000

// Bun takes back a limit that is set here after the first file of a run, and reads none from bunfig.toml: without one
// on its command line it begins again with this one. A parallel run loads this in its workers alone, which have its
// limit already: so test/run names it.
const words = readFileSync('/proc/self/cmdline', 'utf8').split('\0').slice(0, -1)
const at = words.indexOf('test')
if (at > 0 && !words.some((word) => word.startsWith('--timeout')))
  (process as unknown as Executing).execve(
    process.execPath,
    words.toSpliced(at + 1, 0, `--timeout=${USUAL_LIMIT_MS}`),
    process.env,
  )
setDefaultTimeout(USUAL_LIMIT_MS)

afterAll(closeOpened)
