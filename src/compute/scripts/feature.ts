import { feature } from '../../kernel/feature.ts'
import { addScript, changeScript, getScript, listScripts, removeScript } from './scripts.ts'
import { scripts } from './tables.ts'

const errors = {
  script_not_found: { status: 404, when: 'There is no such script, or it is not yours.', remedy: 'Check the id.' },
} as const

const ids = {
  script: { prefix: 'scr', sample: 'Web server' },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    scripts: { ids: typeof ids; errors: typeof errors }
  }
}

export const scriptsFeature = feature({
  name: 'scripts',
  ids,
  errors,
  samples: { content: '#!/bin/sh\napt-get install -y nginx\n' },
  tables: [scripts],
  operations: [addScript, listScripts, getScript, changeScript, removeScript],
  nav: [
    {
      kinds: ['reseller', 'customer'],
      group: 'Account',
      position: 415,
      name: 'scripts',
      menu: true,
      title: 'Startup scripts',
      href: '/scripts',
      icon: 'play',
      sees: listScripts,
    },
  ],
  actions: [
    { kinds: ['reseller', 'customer'], position: 215, title: 'Add startup script', page: '/scripts', does: addScript },
  ],
  async fixture({ admin, customer }) {
    const body = { name: 'fixture', content: '#!/bin/sh\ntrue\n' }
    return { script: (await admin('POST', `/customers/${customer.id}/scripts`, body)).id }
  },
})
