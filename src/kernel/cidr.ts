import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** `10.0.0.0/8` in the one form that every reader reads the same: no `010.0.0.1`, no `10.1`, no `0x7f.1`, no zone. */
export const isCidr = (text: string) => isIP(text.split('/')[0] ?? '') !== 0 && !text.includes('%') && ipaddr.isValidCIDR(text)
