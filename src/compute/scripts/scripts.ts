import { Type as t } from 'typebox'
import { customer } from '../../identity/account-records/model.ts'
import { changesLibrary, readsLibrary } from '../../identity/account-records/owned.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { named } from '../../kernel/api/named.ts'
import { done, fields, line, operation } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import {
  contentField,
  readContent,
  SCRIPTS_PER_ACCOUNT,
  script,
  scriptResponse,
  showScript,
  showWhole,
  wholeScript,
} from './model.ts'
import { countScripts, deleteScript, insertScript, pageOfScripts, updateScript } from './queries.ts'

const example = { name: 'Web server', content: '#!/bin/sh\napt-get update && apt-get install -y nginx\n' }

export const addScript = operation({
  id: 'scripts.create',
  method: 'POST',
  path: '/customers/{id}/scripts',
  summary: 'Add a startup script to an account; it runs at the first boot of servers',
  past: 'Added a startup script',
  access: changesLibrary,
  on: customer,
  body: fields({ name: line(80), content: contentField }),
  response: wholeScript,
  status: 201,
  refuses: ['limit_reached', 'name_taken'],
  example,
  run({ tx, target, body, clock }) {
    const content = readContent(body.content)
    if (countScripts(tx, target.id) >= SCRIPTS_PER_ACCOUNT)
      throw new ApiError(
        'limit_reached',
        `An account has at most ${SCRIPTS_PER_ACCOUNT} scripts. Remove one that is not used.`,
      )
    const now = clock()
    const row = { id: newId('scr'), ownerId: target.id, name: body.name, content, createdAt: now, changedAt: now }
    return showWhole(named('script', () => insertScript(tx, row)))
  },
})

export const listScripts = operation({
  id: 'scripts.list',
  method: 'GET',
  path: '/customers/{id}/scripts',
  summary: 'The scripts of an account, newest first',
  access: readsLibrary,
  on: customer,
  pages: { usual: 50, most: 50 },
  response: page(scriptResponse),
  run: (call) => pageOfScripts(call, call.target.id, showScript),
})

export const getScript = operation({
  id: 'scripts.get',
  method: 'GET',
  path: '/scripts/{id}',
  summary: 'A script with its text',
  access: readsLibrary,
  on: script,
  response: wholeScript,
  run: ({ target }) => showWhole(target),
})

export const changeScript = operation({
  id: 'scripts.update',
  method: 'PATCH',
  path: '/scripts/{id}',
  summary: 'Change a script; servers that were installed with it keep the one that they ran',
  access: changesLibrary,
  on: script,
  body: fields({ name: t.Optional(line(80)), content: t.Optional(contentField) }),
  response: wholeScript,
  refuses: ['name_taken'],
  example,
  run({ tx, target, body, clock }) {
    const given = { ...body, ...(body.content !== undefined && { content: readContent(body.content) }) }
    if (!Object.keys(given).length) return showWhole(target)
    return showWhole(named('script', () => updateScript(tx, target, { ...given, changedAt: clock() })))
  },
})

export const removeScript = operation({
  id: 'scripts.remove',
  destroys: [],
  method: 'DELETE',
  path: '/scripts/{id}',
  summary: 'Remove a script; servers that were installed with it stay as they are',
  access: changesLibrary,
  on: script,
  response: done,
  run({ tx, target }) {
    deleteScript(tx, target.id)
    return {}
  },
})
