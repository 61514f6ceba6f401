// What browsers load, by the name that views know it by. Each import is the file's path, on disk or inside the executable.
import alpine from '@alpinejs/csp/dist/cdn.min.js' with { type: 'file' }
import htmx from 'htmx.org/dist/htmx.min.js' with { type: 'file' }
// By its path: the package names no entry that a browser can load as it is.
import webauthn from '../node_modules/@simplewebauthn/browser/dist/bundle/index.umd.min.js' with { type: 'file' }
import icons from './icons.svg' with { type: 'file' }
import mark from './mark.svg' with { type: 'file' }
import calls from './panel/calls.js' with { type: 'file' }
import choices from './panel/choices.js' with { type: 'file' }
import confirm from './panel/confirm.js' with { type: 'file' }
import copy from './panel/copy.js' with { type: 'file' }
import dialogs from './panel/dialogs.js' with { type: 'file' }
import fields from './panel/fields.js' with { type: 'file' }
import jobLog from './panel/job-log.js' with { type: 'file' }
import menu from './panel/menu.js' with { type: 'file' }
import messages from './panel/messages.js' with { type: 'file' }
import page from './panel/page.js' with { type: 'file' }
import palette from './panel/palette.js' with { type: 'file' }
import redraw from './panel/redraw.js' with { type: 'file' }
import refusals from './panel/refusals.js' with { type: 'file' }
import rows from './panel/rows.js' with { type: 'file' }
import secret from './panel/secret.js' with { type: 'file' }
import sshKeys from './panel/ssh-keys.js' with { type: 'file' }
import times from './panel/times.js' with { type: 'file' }
import tryIt from './panel/try.js' with { type: 'file' }
import style from './panel.css' with { type: 'file' }
import security from './security.js' with { type: 'file' }

export const files: Record<string, string | readonly string[]> = {
  'panel.css': style,
  /** One module: what one file declares, the others see. `page` comes first, because all use it as they begin. */
  'panel.js': [
    page,
    messages,
    redraw,
    calls,
    confirm,
    refusals,
    dialogs,
    copy,
    rows,
    fields,
    choices,
    menu,
    palette,
    times,
    secret,
    jobLog,
    tryIt,
    sshKeys,
  ],
  /** Loaded where somebody uses a passkey or sets up a second factor. */
  'security.js': [webauthn, security],
  'htmx.js': htmx,
  'alpine.js': alpine,
  'icons.svg': icons,
  'mark.svg': mark,
}
