/** The kinds of accounts, in the order in which the reference and forms name them. */
export const accountKinds = ['staff', 'reseller', 'customer'] as const
type Kinds = Record<(typeof accountKinds)[number], true>
declare module '../../kernel/register.ts' {
  interface AccountKinds extends Kinds {}
}
