// The panels that can be read. Another one is a folder of its own and a line here.
import { demo } from './demo/source.ts'
import { solusvm2 } from './solusvm2/source.ts'
import type { Source, SourceKind } from './source.ts'
import { virtualizor } from './virtualizor/source.ts'

export const sources: ReadonlyMap<SourceKind, Source> = new Map(
  [solusvm2, virtualizor, demo].map((source) => [source.kind, source]),
)
