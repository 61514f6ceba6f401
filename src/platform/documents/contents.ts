// The table of contents of the documents, in the order in which they are read.
import type { AccountKind } from '../../kernel/api/access.ts'

export const documentGroups = {
  start: 'Start',
  run: 'Run it',
  protect: 'Keep it safe',
  sell: 'Sell',
  look: 'Look up',
  build: 'How it is built',
  customers: 'For customers',
} as const
export type DocumentGroup = keyof typeof documentGroups

/** `name`: of the file in docs/, without its extension. `title`: in the table of contents. */
export type DocumentEntry = { name: string; title: string; group: DocumentGroup; kinds: readonly AccountKind[] }

const forStaff = (group: DocumentGroup, entries: Readonly<Record<string, string>>): DocumentEntry[] =>
  Object.entries(entries).map(([name, title]) => ({ name, title, group, kinds: ['staff'] }))

export const contents: readonly DocumentEntry[] = [
  ...forStaff('start', {
    start: 'From zero to the first paying customer',
    install: 'Installation',
    sizing: 'Sizing',
    ports: 'Ports',
    accounts: 'Accounts and sign-in',
    'sign-in': 'Sign-in through an identity provider',
    proxy: 'A reverse proxy in front',
  }),
  ...forStaff('run', {
    nodes: 'Nodes',
    'network-designs': 'Network designs',
    network: 'Addresses',
    storage: 'Storage',
    images: 'Images and rescue',
    guests: 'Guests and cloud-init',
    windows: 'Windows',
    gpu: 'GPUs',
    placement: 'Placement',
    moves: 'Moves between nodes',
    maintenance: 'Maintenance, failed disks, new kernels',
    'many-servers': 'Many servers at once',
    imports: 'Imports from other panels',
    abuse: 'Abuse reports',
    'on-call': 'On call: who learns of an outage',
    monitoring: 'Monitoring',
    upgrade: 'Updates',
  }),
  ...forStaff('protect', {
    'backup-strategy': 'Backups: 3-2-1',
    backups: 'Backups of servers',
    'backup-plans': 'Backup plans',
    'backup-server': 'A place that nobody can erase',
    'backup-restore': 'A disk from its backup, without Berth',
    backup: 'Backup of the controller, and its keys',
    standby: 'Replica and standby',
    hardening: 'Hardening checklist',
    security: 'Security',
  }),
  ...forStaff('sell', {
    billing: 'Billing systems',
    webhooks: 'Webhooks and events',
    api: 'The API',
  }),
  ...forStaff('look', {
    troubleshooting: 'Troubleshooting by symptom',
    'staff-rights': 'Staff permissions',
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
  { name: 'handbook', title: 'Handbook', group: 'customers', kinds: ['staff', 'reseller', 'customer'] },
]
