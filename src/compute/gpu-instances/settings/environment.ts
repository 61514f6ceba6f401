// Environment and command of the container. A container is made with them, so a change comes with the next start.
import { commandField, environmentField, environmentPairs } from '../../../catalog/gpu-images/model.ts'
import { everybody } from '../../../kernel/api/access.ts'
import { invalid } from '../../../kernel/api/errors.ts'
import { described, fields, operation, secret } from '../../../kernel/api/operation.ts'
import { changeResponse, gpuInstance } from '../model.ts'
import { updateInstance } from '../queries.ts'
import { closedEnvironment } from '../run/container.ts'
import { mustAllowFor, refusalsOf } from '../state.ts'

/** Throws `validation_failed` where a variable is named twice. */
export function mustNameEachOnce(environment: readonly string[]): void {
  const names = environmentPairs(environment).map(({ name }) => name)
  if (new Set(names).size < names.length)
    throw invalid({ field: 'environment', message: 'must name each variable once.' })
}

export const setInstanceEnvironment = operation({
  id: 'gpu-instances.set-environment',
  method: 'PUT',
  path: '/gpu-instances/{id}/environment',
  summary:
    'Set environment variables and command of a GPU instance; the next start or restart makes its container anew ' +
    'with them, and keeps of its files those in /workspace',
  past: 'Changed the environment',
  access: everybody('servers:settings'),
  on: gpuInstance,
  body: fields({
    environment: described(
      secret(environmentField),
      'All of them; each replaces the variable of this name that the image sets.',
    ),
    command: described(secret(commandField), 'The program and its arguments; null or empty: the command of the image.'),
  }),
  response: changeResponse,
  refuses: refusalsOf('environment'),
  example: { environment: ['HF_HOME=/workspace/hf'], command: null },
  run({ tx, actor, target, body, secrets }) {
    mustNameEachOnce(body.environment)
    mustAllowFor(tx, actor, target, 'environment')
    updateInstance(tx, target.id, {
      environment: closedEnvironment(secrets, target, body.environment),
      command: body.command?.length ? body.command : null,
    })
    return { instanceId: target.id }
  },
})
