// The functions of this folder draw components in views that are still `html` templates; it goes with the last of them.
import { h } from 'preact'
import { Icon, type IconName } from '../components/icon.tsx'

export type { IconName }
export const icon = (name: IconName) => h(Icon, { name })
