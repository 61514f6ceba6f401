// Dialogs that public/security.js fills from a response, once: the secret of an authenticator app, and recovery codes.
import { confirmTotp } from '../../../../src/identity/auth/second-factors/totp.ts'
import { CallForm } from '../../../components/action.tsx'
import { Field } from '../../../components/field.tsx'
import { Icon } from '../../../components/icon.tsx'

export const codesShown = { to: 'showCodes', at: '#codes' } as const

const Copy = () => (
  <button type="button" class="btn" data-copy="">
    <Icon name="copy" />
    Copy
  </button>
)

export const AppDialog = () => (
  <dialog id="app" aria-labelledby="app-t">
    <CallForm op={confirmTotp} hands={codesShown} done="Signing in asks for a code from now on">
      <h2 id="app-t">Add your authenticator app</h2>
      <ol class="will">
        <li>
          Scan this with the app, or <a href="#app">open it in the app</a> on this device.
        </li>
        <li>Type the six digits that the app shows.</li>
      </ol>
      <img class="qr" alt="QR code with the secret; the text below says the same" width="200" height="200" />
      <div class="f">
        <span>Or type this secret into the app</span>
        <div class="bar">
          <output class="secret grow" />
          <Copy />
        </div>
      </div>
      <Field
        scope="app"
        name="code"
        label="Code"
        autocomplete="one-time-code"
        inputmode="numeric"
        required
        mono
        hint="You are signed out everywhere else."
      />
      <p class="said" role="status" />
      <div class="bar end">
        <button type="button" class="btn" data-close="">
          Cancel
        </button>
        <button class="btn pri">Turn on</button>
      </div>
    </CallForm>
  </dialog>
)

export const CodesDialog = () => (
  <dialog id="codes" aria-labelledby="codes-t">
    <div class="stack">
      <h2 id="codes-t">Your recovery codes</h2>
      <p>
        Without your device, each of these signs you in once, together with your password. Keep them with your
        passwords, not on that device.
      </p>
      <output class="secret" />
      <p class="said" role="status" />
      <p class="muted">They are shown only once: Berth stores no readable copy.</p>
      <div class="bar end">
        <Copy />
        <a class="btn" href="#codes" download="recovery-codes.txt">
          Download
        </a>
        <button type="button" class="btn pri" data-close="">
          I've saved them
        </button>
      </div>
    </div>
  </dialog>
)
