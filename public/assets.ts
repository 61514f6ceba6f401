// What browsers load, by the name that views know it by. Each import is the file's path, on disk or inside the executable.
import alpine from '@alpinejs/csp/dist/cdn.min.js' with { type: 'file' }
import htmx from 'htmx.org/dist/htmx.min.js' with { type: 'file' }
// By its path: the package names no entry that a browser can load as it is.
import webauthn from '../node_modules/@simplewebauthn/browser/dist/bundle/index.umd.min.js' with { type: 'file' }
import icons from './icons.svg' with { type: 'file' }
import mark from './mark.svg' with { type: 'file' }
import style from './panel.css' with { type: 'file' }
import behaviour from './panel.js' with { type: 'file' }
import security from './security.js' with { type: 'file' }

export const files: Record<string, string | readonly string[]> = {
  'panel.css': style,
  'panel.js': behaviour,
  /** Loaded where somebody uses a passkey or sets up a second factor. */
  'security.js': [webauthn, security],
  'htmx.js': htmx,
  'alpine.js': alpine,
  'icons.svg': icons,
  'mark.svg': mark,
}
