import { page } from '../../../src/kernel/web/page.ts'
import { unsubscribe } from '../../../src/platform/messages/unsubscribe.ts'
import { CallForm } from '../../components/action.tsx'

export const unsubscribePage = page({
  path: '/unsubscribe/{token}',
  open: true,
  reads: {},
  title: 'Unsubscribe from news',
  view: ({ at }) => (
    <>
      <h1>Unsubscribe from news</h1>
      <p class="muted">Mails about your own servers still come.</p>
      <CallForm
        op={unsubscribe}
        body={{ token: at.params['token'] ?? '' }}
        done="You get no more news"
        leadsTo="/login"
        class="stack"
      >
        <button class="btn pri">Unsubscribe</button>
      </CallForm>
    </>
  ),
})
