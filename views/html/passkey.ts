import { h } from 'preact'
import type { Operation } from '../../src/kernel/api/operation.ts'
import type { Html } from '../../src/kernel/web/html.ts'
import { PasskeyButton } from '../identity/sign-in/passkey.tsx'

type Given = { begin: Operation; finish: Operation; leadsTo?: string; label: string; pri?: boolean }
export const withPasskey = ({ pri = false, ...of }: Given): Html => h(PasskeyButton, { ...of, primary: pri })
