import { markup } from '../../src/kernel/web/html.ts'
import { usePageContext } from '../../src/kernel/web/page-context.ts'

/**
 * The symbols of public/icons.svg: 24-pixel icons for things and actions, 12-pixel shapes for states. Features name
 * theirs in `nav`.
 */
export type ShapeName = 'away' | 'fail' | 'hold' | 'run' | 'stop' | 'tick' | 'wait' | 'work' | 'dot'
export type IconName =
  | 'overview'
  | 'server'
  | 'customers'
  | 'resellers'
  | 'jobs'
  | 'node'
  | 'location'
  | 'pool'
  | 'image'
  | 'package'
  | 'audit'
  | 'settings'
  | 'brand'
  | 'notice'
  | 'bell'
  | 'menu'
  | 'copy'
  | 'out'
  | 'plus'
  | 'key'
  | 'search'
  | 'next'
  | 'to'
  | 'check'
  | 'help'
  | 'info'
  | 'warning'
  | 'restart'
  | 'refresh'
  | 'power'
  | 'square'
  | 'pause'
  | 'play'
  | 'anchor'
  | 'close'
  | 'host'
  | 'user'
  | 'shield'
  | 'history'
  | 'terminal'
  | 'keyboard'
  | 'paste'
  | 'maximize'
  | 'download'
  | 'upload'
  | 'ellipsis'
  | 'unplug'
  | 'trash'
  | 'pencil'
  | 'link'
  | 'lock'
  | 'reinstall'
  | 'share'
  | 'fingerprint'
  | 'globe'
  | 'book'
  | 'chevron-down'
  | 'chevron-left'
  | 'chevron-right'
  | 'arrow-up'
  | 'arrow-down'
  | 'activity'
  | 'mail'
  | 'gpu'
  | 'webhook'
  | 'import'
  | 'network'
  | 'transfer'
  | 'camera'
  | 'disk'
  | 'folder'
  | 'undo'
  | 'checklist'
  | ShapeName

const shapes: Record<ShapeName, true> = {
  away: true,
  fail: true,
  hold: true,
  run: true,
  stop: true,
  tick: true,
  wait: true,
  work: true,
  dot: true,
}

type ColourRole = 'ok' | 'work' | 'warn' | 'bad' | 'idle' | 'hold' | 'muted' | 'who' | 'info' | ''

/** In the middle of a page without content: a pier where nothing is yet, a buoy where something failed. */
export const Drawing = ({ name }: { name: 'pier' | 'buoy' }) => (
  <svg viewBox="0 0 200 96" aria-hidden="true">
    <use href={`${usePageContext().asset('icons.svg')}#d-${name}`} />
  </svg>
)

/** Decoration: what it says is said in words beside it. `class` adds a colour role. */
export function Icon({ name, class: look = '' }: { name: IconName; class?: ColourRole }) {
  // As text of ours: a list draws hundreds, and as elements they take a fifth of its time.
  const classes = `i${name in shapes ? ' g' : ''}${look && ` ${look}`}`
  return markup(
    `<svg class="${classes}" aria-hidden="true"><use href="${usePageContext().asset('icons.svg')}#i-${name}"/></svg>`,
  )
}
