// A dialog for a secret that is shown once: a password, a token. It is in the API's response only;
// public/panel/page/secret.js puts it here.
import { Icon } from '../components/icon.tsx'

/** The dialog that every page has. It cannot be left by accident. */
export const SecretOnce = () => (
  <dialog id="secret-once" aria-labelledby="secret-title">
    <div class="in">
      <h2 id="secret-title" data-says="title" />
      <p data-says="words" />
      <div class="bar">
        <output class="secret grow" data-says="value" />
        <button type="button" class="btn" data-copy="">
          <Icon name="copy" />
          Copy
        </button>
      </div>
      <p class="said" role="status" />
      <p class="muted">It is shown only once: Berth stores no readable copy.</p>
      <div class="bar end">
        <button type="button" class="btn pri" data-saved="">
          I've saved it
        </button>
      </div>
    </div>
  </dialog>
)
