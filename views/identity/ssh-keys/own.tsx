import { listSshKeys } from '../../../src/identity/ssh-keys/ssh-keys.ts'
import { page, reading } from '../../../src/kernel/web/page.ts'
import { Head } from '../../components/head.tsx'
import { Section } from '../../components/section.tsx'
import { AddKey, KeyList } from './keys.tsx'

export const ownKeysPage = page({
  path: '/account/ssh-keys',
  reads: { keys: reading(listSshKeys, ({ actor }) => ({ params: { id: actor.accountId } })) },
  title: 'SSH keys',
  nav: 'keys',
  view: ({ keys, at }) => (
    <>
      <Head
        title="SSH keys"
        actions={<AddKey ownerId={at.actor.accountId} primary />}
        sub={
          <p>
            Add the public half of a key here, then choose it when you set up or reinstall a server. Keys already on a
            server are changed on that server.
          </p>
        }
      />
      <Section id="keys" title="SSH keys" quiet flush first>
        <KeyList keys={keys} mayChange />
      </Section>
    </>
  ),
})
