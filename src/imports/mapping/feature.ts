import { feature } from '../../kernel/feature.ts'
import {
  changeMapping,
  getMapping,
  getPlan,
  listMappedHypervisors,
  listMappedOwners,
  listMappedPackages,
  listMappedRanges,
} from './mapping.ts'
import { applyToHypervisors, applyToOwners, applyToPackages, applyToRanges, leaveOut } from './rules.ts'
import { getImportServer, listImportServers } from './servers.ts'
import { exportMapping, uploadMapping } from './spreadsheet.ts'

const errors = {
  choice_not_offered: {
    status: 409,
    when: 'This cannot be chosen here; the message says why.',
    remedy: 'Read `offers` of the row, and choose one that is offered.',
  },
} as const
declare module '../../kernel/register.ts' {
  interface Names {
    mapping: { errors: typeof errors }
  }
}

export const mappingFeature = feature({
  name: 'mapping',
  errors,
  operations: [
    listImportServers,
    getImportServer,
    getMapping,
    changeMapping,
    listMappedPackages,
    listMappedRanges,
    listMappedHypervisors,
    listMappedOwners,
    applyToPackages,
    applyToRanges,
    applyToHypervisors,
    applyToOwners,
    leaveOut,
    exportMapping,
    uploadMapping,
    getPlan,
  ],
})
