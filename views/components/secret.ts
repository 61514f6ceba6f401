// What is shown this one time: a password, a token. It is in the API's answer only; this is where public/panel/secret.js puts it.
import { type Html, html } from '../../src/kernel/web/html.ts'
import { icon } from './icon.ts'

/** The dialog that every page has. It cannot be left by accident. */
export const secretOnce = (): Html => html`
  <dialog id="secret-once" aria-labelledby="secret-title" x-data="secretOnce" x-on:secret.window="show" x-on:cancel.prevent="stay">
    <div class="in">
      <h2 id="secret-title" x-text="title"></h2>
      <p x-text="words"></p>
      <div class="bar"><output class="secret grow" x-text="value"></output><button type="button" class="btn" x-bind:data-copy="value">${icon('copy')}Copy</button></div>
      <p class="said" role="status"></p>
      <p class="muted">It is shown only this once: Berth keeps it in no readable form.</p>
      <div class="bar end"><button type="button" class="btn pri" x-on:click="leave">I have stored it</button></div>
    </div>
  </dialog>`
