import { feature } from '../../kernel/feature.ts'
import { endingTokens } from './attention.ts'
import { listRoleTokens } from './of-role.ts'
import { tokens } from './tables.ts'
import { createToken, grantToken, listTokens, revokeToken, rotateToken } from './tokens.ts'

const errors = {
  token_not_found: { status: 404, when: 'There is no such token of this account.', remedy: 'Check the id.' },
} as const

const ids = {
  token: { prefix: 'tok' },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    tokens: { ids: typeof ids; errors: typeof errors }
  }
}

export const tokensFeature = feature({
  name: 'tokens',
  ids,
  samples: {
    token: 'pnl_…',
    scopes: 'servers:read',
    usedFrom: '198.51.100.7',
    allow: '198.51.100.7/32',
  },
  errors,
  tables: [tokens],
  operations: [grantToken, createToken, listTokens, listRoleTokens, rotateToken, revokeToken],
  attention: [endingTokens],
  nav: [
    {
      kinds: ['staff'],
      group: 'Account',
      position: 450,
      name: 'reference',
      menu: true,
      title: 'API reference',
      href: '/admin/api/reference',
      icon: 'terminal',
      sees: listTokens,
    },
    {
      kinds: ['reseller', 'customer'],
      group: 'Account',
      position: 450,
      name: 'reference',
      menu: true,
      title: 'API reference',
      href: '/api-reference',
      icon: 'terminal',
      sees: listTokens,
    },
    {
      kinds: ['staff', 'reseller', 'customer'],
      group: 'Account',
      position: 440,
      name: 'tokens',
      menu: true,
      title: 'API tokens',
      href: '/account/api',
      icon: 'lock',
      sees: listTokens,
    },
  ],
  actions: [
    {
      kinds: ['staff', 'reseller', 'customer'],
      position: 300,
      title: 'Create API token',
      page: '/account/api',
      dialog: true,
      does: createToken,
    },
  ],
})
