import { platformHere } from '../../../agent/protocol/release/manifest.ts'
import { PROTOCOL } from '../../../agent/protocol/wire.ts'
import { migrations } from '../../../migrations/index.ts'
import { VERSION } from '../../kernel/version.ts'
import type { Described } from './make.ts'

/** This program, for whoever makes a release of it or checks one before it runs it. */
export const described = (): Described => ({
  version: VERSION,
  protocol: PROTOCOL,
  schema: migrations.at(-1)!.name,
  platform: platformHere,
})
