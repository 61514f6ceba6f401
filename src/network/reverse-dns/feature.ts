import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { untoldNames } from './attention.ts'
import { tellNameServer } from './deliver.ts'
import { bySystemResolvers, type ForwardLookUp } from './forward.ts'
import { listReverseNames, setReverseName, setReverseNameUnconfirmed } from './set.ts'
import {
  configurePowerDns,
  configureRfc2136,
  dropNameServerSetting,
  getNameServer,
  testNameServer,
} from './settings.ts'
import { reverseNames } from './tables.ts'

const errors = {
  no_name_server: {
    status: 409,
    when: 'No name server is set for reverse DNS.',
    remedy: 'Staff set one in the settings.',
  },
  name_leads_elsewhere: {
    status: 409,
    when: 'The name does not lead to the address.',
    remedy: 'Add an A or AAAA record with the address to the name first.',
  },
  name_of_another: {
    status: 409,
    when: 'The address is private, and a server at another location that has it too has named it in reverse DNS.',
    remedy: 'Name it where it is named, or remove that name first.',
  },
  name_server_refused: {
    status: 409,
    when: 'The name server did not answer as it should; the message says what it said.',
    remedy: 'Change the settings there or here.',
  },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    'reverse-dns': { errors: typeof errors }
  }
  interface Services {
    forwardLookUp: ForwardLookUp
  }
}

export const reverseDnsFeature = feature({
  name: 'reverse-dns',
  errors,
  services: () => ({ forwardLookUp: bySystemResolvers }),
  tables: [reverseNames],
  operations: [
    listReverseNames,
    setReverseName,
    setReverseNameUnconfirmed,
    getNameServer,
    configurePowerDns,
    configureRfc2136,
    dropNameServerSetting,
    testNameServer,
  ],
  schedule: [{ everyMs: 2 * second, words: 'telling the name server', work: ({ db, app }) => tellNameServer(db, app) }],
  attention: [untoldNames],
})
