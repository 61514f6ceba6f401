// bunfig.toml loads this before each test file: the workers of a parallel run have no event for their own end.
import { afterAll, setDefaultTimeout } from 'bun:test'
import { closeOpened } from './opened.ts'

/**
 * The longest test that sets no limit takes some 5 s alone on two cores; a machine may be busy with much else. A run of
 * several files one after another has it for the first alone, so test/run says the same.
 */
export const USUAL_LIMIT_MS = 60_000
setDefaultTimeout(USUAL_LIMIT_MS)

afterAll(closeOpened)
