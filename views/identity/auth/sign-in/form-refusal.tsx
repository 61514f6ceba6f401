import type { RefusedForm } from '../../../../src/kernel/web/page.ts'

/** The refusal of a form that the browser sent by itself, as public/panel/calls/refusals.js shows those of calls. */
export const FormRefusal = ({ of }: { of: RefusedForm | undefined }) =>
  of ? (
    <div class="errors" role="alert">
      <h2>There is a problem</h2>
      {of.fields.length ? (
        <ul>
          {of.fields.map(({ field, message }) => (
            <li>{`${field} ${message}`}</li>
          ))}
        </ul>
      ) : (
        <p>{of.message}</p>
      )}
    </div>
  ) : null
