// A secret that is shown once, in a dialog that cannot be closed by accident.
// @ts-check

import { arrive } from '../calls/calls.js'
import { component } from './page.js'

component('secretOnce', () => ({
  title: '',
  words: '',
  value: '',
  next: '',
  toast: '',
  /** @this {any} */
  show(/** @type {CustomEvent} */ { detail }) {
    Object.assign(this, detail)
    this.$root.showModal()
  },
  stay() {},
  /** @this {any} */
  leave() {
    this.value = ''
    this.$root.close()
    arrive(this.next, this.toast)
  },
}))
