import { feature } from '../../kernel/feature.ts'
import { endingTokens } from './attention.ts'
import { tokens } from './tables.ts'
import { createToken, grantToken, listTokens, revokeToken, rotateToken } from './tokens.ts'

export const tokensFeature = feature({
  name: 'tokens',
  tables: [tokens],
  operations: [grantToken, createToken, listTokens, rotateToken, revokeToken],
  attention: [endingTokens],
})
