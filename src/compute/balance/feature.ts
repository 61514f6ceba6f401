import { feature } from '../../kernel/feature.ts'
import { applyBalance, getBalance } from './balance.ts'

const errors = {
  balance_changed: {
    status: 409,
    when: 'The suggested moves are others now.',
    remedy: 'Read the suggestions again.',
  },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    balance: { errors: typeof errors }
  }
}

export const balanceFeature = feature({ name: 'balance', errors, operations: [getBalance, applyBalance] })
