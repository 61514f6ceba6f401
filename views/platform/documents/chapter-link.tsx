import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Icon } from '../../components/icon.tsx'
import { type Chapter, chapterFor, chapterOf } from './chapters.ts'

/** A link to a chapter of the documents by its title. Nothing for readers whom it is not meant for. */
export function ChapterLink({ of }: { of: Chapter }) {
  const found = chapterFor(useAt().actor.kind, of)
  return found ? <a href={found.href}>{found.title}</a> : null
}

/** Beside the title of a page that has a chapter: the way to it. */
export function Help() {
  const { path, actor } = useAt()
  const chapter = chapterOf(path)
  const found = chapter && actor.accountId && chapterFor(actor.kind, chapter)
  return found ? (
    <a class="btn bare ico s" href={found.href} aria-label="Help for this page" title={`Documentation: ${found.title}`}>
      <Icon name="help" />
    </a>
  ) : null
}
