<?php
/** Ends the run where a module breaks what its platform's documentation asks of it. */
function hold(bool $is, string $promise): void
{
    if (!$is) {
        fwrite(STDERR, "the module breaks its contract: $promise\n");
        exit(1);
    }
}

/** Tests do not wait for the pauses of the client; one that is about silence says how long it bears it. */
function hurry(): void
{
    BerthClient::$pause = 0.02;
    BerthClient::$timeout = (float) (getenv('TIMEOUT') ?: BerthClient::$timeout);
}

/** Answers each line of JSON on standard input with one line: a process starts slowly, and a call is fast. */
function serve(callable $handle): void
{
    while (($line = fgets(STDIN)) !== false) {
        echo json_encode($handle(json_decode($line, true, 512, JSON_THROW_ON_ERROR))), "\n";
        flush();
    }
}
