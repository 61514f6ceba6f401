import { feature } from '../../kernel/feature.ts'
import { sources } from '../sources/panels.ts'
import { checkTables } from './checks/queries.ts'
import { moveTables } from './moves/queries.ts'
import { encryptedCredentials, importTarget } from './queries.ts'
import {
  importAddresses,
  importChanges,
  importHypervisors,
  importLog,
  importOwners,
  importPackages,
  importRanges,
  importServers,
  importStaged,
  imports,
} from './tables.ts'

const ids = {
  import: { prefix: 'imp', sample: 'Frankfurt' },
  importServer: { prefix: 'ims', sample: 'shop.example.com', also: ['import server'] },
} as const
const WORDS = 'Read other panels, decide what is to be imported, and let nodes in to their hypervisors'
const scopes = { 'imports:write': { words: WORDS } } as const
const permissions = {
  imports: { words: WORDS, opens: ['imports:write'] },
} as const
const errors = {
  import_not_found: { status: 404, when: 'There is no such import.', remedy: 'Check the id.' },
  import_server_not_found: { status: 404, when: 'The import has no such server.', remedy: 'Check the id.' },
  import_busy: {
    status: 409,
    when: 'The import is reading the other panel or checking its servers.',
    remedy: 'Wait for its end, or cancel the import.',
  },
  import_started: {
    status: 409,
    when: 'The import has begun to migrate servers.',
    remedy: 'Finish it, or roll its servers back first.',
  },
  import_ended: {
    status: 409,
    when: 'The import is finished.',
    remedy: 'Start a new import.',
  },
  import_not_discovered: {
    status: 409,
    when: 'The import has not read the other panel yet.',
    remedy: 'Call discover, and wait for its end.',
  },
  import_not_checked: {
    status: 409,
    when: 'The import has no dry run of what is decided now.',
    remedy: 'Call dry-run, and wait for its end.',
  },
  import_not_migrating: {
    status: 409,
    when: 'The import moves no servers now.',
    remedy: 'Call start first.',
  },
  import_not_moved: {
    status: 409,
    when: 'The import has not moved all of its servers yet.',
    remedy: 'Wait for the end of its servers, or stop it after those that have begun.',
  },
} as const
declare module '../../kernel/register.ts' {
  interface Names {
    'import-records': {
      ids: typeof ids
      scopes: typeof scopes
      permissions: typeof permissions
      errors: typeof errors
    }
  }
}

export const importRecordsFeature = feature({
  name: 'import-records',
  ids,
  scopes,
  permissions,
  errors,
  encrypted: [encryptedCredentials],
  tables: [
    imports,
    importStaged,
    importHypervisors,
    importPackages,
    importRanges,
    importOwners,
    importServers,
    importAddresses,
    importChanges,
    importLog,
    ...checkTables,
    ...moveTables,
  ],
  auditTargets: [importTarget],
  services: () => ({ importPanels: sources }),
})
