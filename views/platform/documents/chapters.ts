// Which chapter of the documents helps on which page.
import type { AccountKind } from '../../../src/kernel/api/access.ts'
import { shapeOf } from '../../../src/kernel/web/page.ts'
import { DOCUMENTS_ROOT, documentsFor } from '../../../src/platform/documents/documents.ts'
import type { Address } from '../../addresses.ts'

/** The name of a document, and with `#` the section of it. */
export type Chapter = string

const forStaff = {
  '/admin/servers': 'many-servers',
  '/admin/servers/new': 'placement',
  '/admin/servers/many': 'many-servers#actions-for-many',
  '/admin/servers/{id}': 'troubleshooting',
  '/admin/servers/{id}/metrics': 'monitoring#metrics-of-servers',
  '/admin/servers/{id}/network': 'network',
  '/admin/servers/{id}/backups': 'backups',
  '/admin/servers/{id}/move': 'moves#ways-to-move',
  '/admin/servers/{id}/elsewhere': 'standby#no-server-runs-twice',
  '/admin/bulk-actions': 'many-servers#actions-for-many',
  '/admin/messages': 'many-servers#messages-to-customers',
  '/admin/messages/new': 'many-servers#messages-to-customers',
  '/admin/traffic': 'many-servers#heaviest-users-of-traffic',
  '/admin/transfers': 'moves',
  '/admin/transfers/{id}': 'moves#when-something-fails',
  '/admin/gpu': 'gpu#a-host-in-the-panel',
  '/admin/gpu-instances': 'gpu#orders-in-the-panel',
  '/admin/gpu-instances/{id}': 'gpu#how-an-instance-is-reached',
  '/admin/gpu-images': 'gpu#images',
  '/admin/gpu-offers': 'gpu#offers',
  '/admin/resellers': 'accounts#resellers',
  '/admin/resellers/{id}': 'accounts#resellers',
  '/admin/staff': 'staff-rights#a-new-colleague',
  '/admin/roles': 'staff-rights#the-permissions',
  '/admin/roles/{id}': 'staff-rights#the-permissions',
  '/admin/nodes': 'nodes',
  '/admin/nodes/enroll': 'nodes#a-second-node',
  '/admin/nodes/{id}': 'nodes#maintenance-by-the-book',
  '/admin/nodes/{id}/metrics': 'monitoring#the-figures',
  '/admin/nodes/{id}/storage': 'storage',
  '/admin/nodes/{id}/gpus': 'gpu#what-a-host-needs',
  '/admin/nodes/{id}/drain': 'maintenance#a-kernel-update-of-a-node',
  '/admin/drains/{id}': 'maintenance#a-kernel-update-of-a-node',
  '/admin/node-groups': 'placement',
  '/admin/node-groups/{id}': 'placement#reserve',
  '/admin/placement-groups': 'placement#placement-groups',
  '/admin/ip-pools': 'network#address-pools',
  '/admin/ip-pools/{id}': 'network#address-pools',
  '/admin/floating-ips': 'network#floating-addresses',
  '/admin/networks': 'nodes#private-networks',
  '/admin/volumes': 'storage#extra-volumes',
  '/admin/images': 'images#the-catalogue',
  '/admin/images/{id}': 'images#new-builds',
  '/admin/backups': 'backups',
  '/admin/backup-targets': 'backups#set-it-up',
  '/admin/backup-plans': 'backup-plans',
  '/admin/imports': 'imports',
  '/admin/imports/new': 'imports#before-you-start',
  '/admin/imports/{id}': 'imports#step-by-step',
  '/admin/imports/{id}/owners': 'imports#owners-who-are-here-already',
  '/admin/imports/{id}/billing': 'imports#the-billing-system',
  '/admin/imports/{id}/dry-run': 'imports#dry-run',
  '/admin/imports/{id}/access': 'imports#node-access',
  '/admin/imports/{id}/messages': 'imports#messages-to-owners',
  '/admin/imports/{id}/migrate': 'imports#migrate',
  '/admin/imports/{id}/verify': 'imports#verify',
  '/admin/imports/{id}/finish': 'imports#finish',
  '/admin/imports/{id}/clean-up': 'imports#clean-up-the-other-panels-software-on-adopted-nodes',
  '/admin/import-servers/{id}/roll-back': 'imports#roll-back',
  '/admin/reports': 'billing#usage-and-invoices',
  '/admin/reports/reconciliation': 'billing#reconciliation',
  '/admin/api': 'webhooks',
  '/admin/events': 'webhooks#the-types-of-events',
  '/admin/audit/verify': 'backup#the-end-of-the-audit-log',
  '/admin/controller': 'backup',
  '/admin/controller/updates': 'upgrade#the-page-updates',
  '/admin/roll-outs': 'upgrade#agents-roll-outs',
  '/admin/settings': 'accounts#the-mail-server',
} as const satisfies Partial<Record<Address, Chapter>>

/** Pages of owners of servers, also of those who are resellers. */
const forOwners = {
  '/servers': 'handbook#your-first-server',
  '/servers/{id}': 'handbook#start-stop-restart',
  '/servers/{id}/network': 'handbook#network',
  '/servers/{id}/backups': 'handbook#snapshots-and-backups',
  '/servers/{id}/settings': 'handbook#a-larger-server',
  '/backups': 'handbook#when-something-was-deleted',
  '/floating-ips': 'handbook#network',
  '/networks': 'handbook#network',
} as const satisfies Partial<Record<Address, Chapter>>

const forEverybody = {
  '/firewalls': 'handbook#network',
  '/team': 'handbook#together-with-others',
  '/account': 'handbook#the-keyboard',
  '/account/security': 'handbook#sign-in',
  '/account/ssh-keys': 'handbook#your-first-server',
  '/account/api': 'handbook#programs',
  '/account/webhooks': 'handbook#programs',
} as const satisfies Partial<Record<Address, Chapter>>

/** By the address of the page. */
export const chapters: Readonly<Partial<Record<Address, Chapter>>> = {
  ...forStaff,
  ...forOwners,
  ...Object.fromEntries(Object.entries(forOwners).map(([path, chapter]) => [`/reseller${path}`, chapter])),
  ...forEverybody,
}
const byShape = new Map(Object.entries(chapters).map(([path, chapter]) => [shapeOf(path), chapter]))

/** The chapter for the page at `path`, an address as it is asked for; undefined where there is none. */
export const chapterOf = (path: string): Chapter | undefined => byShape.get(shapeOf(path))

/** Where this reader finds the chapter, and the title of its document; undefined if it is not meant for them. */
export function chapterFor(kind: AccountKind, chapter: Chapter): { href: string; title: string } | undefined {
  const [name] = chapter.split('#') as [string]
  const entry = documentsFor(kind).find((one) => one.name === name)
  return entry && { href: `${DOCUMENTS_ROOT}/${chapter}`, title: entry.title }
}
