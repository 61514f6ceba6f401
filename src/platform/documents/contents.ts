// The table of contents of the documents, in the order in which they are read.
import type { AccountKind } from '../../kernel/api/access.ts'

export const documentGroups = {
  start: 'Start',
  run: 'Run it',
  protect: 'Keep it safe',
  sell: 'Sell',
  look: 'Look up',
  build: 'How it is built',
  customers: 'For your customers',
} as const
export type DocumentGroup = keyof typeof documentGroups

/** `name`: of the file in docs/, without its extension. `title`: in the table of contents. */
export type DocumentEntry = { name: string; title: string; group: DocumentGroup; kinds: readonly AccountKind[] }

const forStaff = (group: DocumentGroup, entries: Readonly<Record<string, string>>): DocumentEntry[] =>
  Object.entries(entries).map(([name, title]) => ({ name, title, group, kinds: ['staff'] }))

export const contents: readonly DocumentEntry[] = [
  ...forStaff('start', {
    install: 'Installation',
    accounts: 'Accounts and sign-in',
    'sign-in': 'Sign-in through an identity provider',
    proxy: 'A reverse proxy in front',
  }),
  ...forStaff('run', {
    nodes: 'Nodes',
    network: 'Addresses',
    storage: 'Storage',
    images: 'Images and rescue',
    guests: 'Guests and cloud-init',
    windows: 'Windows',
    gpu: 'Graphics cards',
    placement: 'Placement',
    moves: 'Moves and maintenance',
    'many-servers': 'Many servers at once',
    imports: 'Imports from other panels',
    monitoring: 'Monitoring',
    upgrade: 'Updates',
  }),
  ...forStaff('protect', {
    backups: 'Backups of servers',
    'backup-plans': 'Backup plans',
    'backup-server': 'A place that nobody can erase',
    'backup-restore': 'A disk from its backup, without Berth',
    backup: 'Backup of the controller, and its keys',
    standby: 'Replica and standby',
    security: 'Security',
  }),
  ...forStaff('sell', {
    billing: 'Billing systems',
    webhooks: 'Webhooks and events',
    api: 'The API',
  }),
  ...forStaff('look', {
    glossary: 'Glossary',
    benchmarks: 'Benchmarks',
  }),
  ...forStaff('build', {
    architecture: 'How the code is laid out',
    protocol: 'Controller and agents',
    'first-changes': 'Your first changes',
    dependencies: 'Dependencies',
    releasing: 'Making a release',
  }),
]
