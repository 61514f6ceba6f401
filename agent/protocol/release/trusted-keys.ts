import { releaseKeyFiles } from './key-files.ts' with { type: 'macro' }
import { type ReleaseKey, releaseKeyFrom } from './signature.ts'

const files: readonly string[] = releaseKeyFiles()

/** The keys that this program was built with; none: it trusts no release. */
export const trustedKeys = (): ReleaseKey[] => files.map(releaseKeyFrom)
