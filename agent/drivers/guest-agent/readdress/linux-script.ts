import script from './readdress.sh' with { type: 'text' }

/** Parts of a Linux that keep the network of a card. `until_boot`: none that is known. */
export const keepers = ['network_manager', 'networkd', 'ifupdown', 'sysconfig', 'until_boot'] as const
export type Keeper = (typeof keepers)[number]

/** For `sh -c`: it says itself what its parameters are. */
export const READDRESS = script
