import type { getDryRun } from '../../../src/imports/dry-run/result.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'

export type DryRun = Answers<{ dryRun: typeof getDryRun }>['dryRun']
