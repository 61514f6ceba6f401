// The script of every page. Each module listens for what it is about; the order is that in which they see an event.
// @ts-check

import './redraw.js'
import './calls.js'
import './confirm.js'
import './dialogs.js'
import './copy.js'
import './rows.js'
import './fields.js'
import './choices.js'
import './menu.js'
import './palette.js'
import './times.js'
import './secret.js'
import './job-log.js'
import './try.js'
import './ssh-keys.js'
