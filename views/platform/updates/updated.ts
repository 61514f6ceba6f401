import type { Answers } from '../../../src/kernel/web/page.ts'
import type { getUpdates } from '../../../src/platform/updates/show.ts'

/** The response that the page is drawn from. */
export type Updated = Answers<{ u: typeof getUpdates }>['u']
