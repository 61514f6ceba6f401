import { feature } from '../../kernel/feature.ts'
import { askingImports } from './attention.ts'
import {
  cancelImport,
  createImport,
  getImport,
  importLog,
  listImports,
  listPanels,
  renameImport,
  setCredentials,
  trustCertificate,
} from './imports.ts'

const errors = {
  certificate_not_asked: {
    status: 409,
    when: 'The import does not ask whether this certificate can be trusted.',
    remedy: 'Read `asksFor`, and compare that fingerprint with the one on the panel.',
  },
} as const
declare module '../../kernel/register.ts' {
  interface Names {
    imports: { errors: typeof errors }
  }
}

export const importsFeature = feature({
  name: 'imports',
  errors,
  operations: [
    listPanels,
    createImport,
    listImports,
    getImport,
    renameImport,
    trustCertificate,
    setCredentials,
    cancelImport,
    importLog,
  ],
  nav: [
    {
      kinds: ['staff'],
      group: 'Infrastructure',
      position: 247,
      name: 'imports',
      title: 'Imports',
      href: '/admin/imports',
      icon: 'import',
      sees: listImports,
    },
  ],
  actions: [
    {
      kinds: ['staff'],
      position: 45,
      title: 'Import from another panel',
      page: '/admin/imports/new',
      does: createImport,
    },
  ],
  attention: [askingImports],
  async fixture({ admin }) {
    const body = { kind: 'demo', address: 'https://demo-12.example:443', credentials: { token: 'fixture' } }
    return { import: (await admin('POST', '/admin/migrations', body)).id }
  },
})
