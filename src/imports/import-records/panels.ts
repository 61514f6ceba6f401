// The panels that can be read: a field of the controller, so that a test can put another one in place.
import { type Source, type SourceKind, sourceKinds } from '../sources/source.ts'

/** The driver of each kind of panel. */
export type ImportPanels = ReadonlyMap<SourceKind, Source>

declare module '../../kernel/register.ts' {
  interface Services {
    importPanels: ImportPanels
  }
}

/** The name of a panel, as people call it. */
export const panelLabel = (panels: ImportPanels, kind: SourceKind): string => panels.get(kind)?.label ?? kind

/** Behind a plus in addresses of accounts that an import makes beside others. */
export const tagOf = (kind: SourceKind): string => kind
export { type SourceKind, sourceKinds }
