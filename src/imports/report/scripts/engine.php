<?php
// The part that all scripts share: what is to be changed, the change in one transaction, and the way back.

/** Something that the person at the keyboard has to decide or to mend. */
final class Refused extends Exception
{
}

/** The database of the billing system. Every statement works in MySQL and in SQLite. */
final class Database
{
    private PDO $pdo;

    public function __construct(string $dsn, ?string $user, ?string $password)
    {
        $this->pdo = new PDO($dsn, $user, $password, [
            PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
            PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
        ]);
    }

    /** Throws when one of these columns is missing: then this is another version than the script knows. */
    public function mustHave(array $tables): void
    {
        foreach ($tables as $table => $columns) {
            try {
                $this->pdo->query('SELECT ' . $this->names($columns) . " FROM `$table` WHERE 1 = 0");
            } catch (PDOException $error) {
                throw new Refused("This database is not the one that this script knows: the table $table, or one of its "
                    . 'columns ' . implode(', ', $columns) . ", is missing. Nothing was changed. ({$error->getMessage()})");
            }
        }
    }

    /** Throws for tables of MySQL that keep half a change where the other half fails. */
    public function mustTakeBack(array $tables): void
    {
        if ($this->pdo->getAttribute(PDO::ATTR_DRIVER_NAME) !== 'mysql') {
            return;
        }
        $found = $this->rows(
            'SELECT table_name AS name, engine AS kind FROM information_schema.tables WHERE table_schema = DATABASE()
               AND engine <> ? AND table_name IN (' . self::marks($tables) . ') ORDER BY 1',
            ['InnoDB', ...$tables],
        );
        if ($found !== []) {
            $ways = array_map(fn ($table) => "ALTER TABLE `{$table['name']}` ENGINE=InnoDB;", $found);
            throw new Refused("Tables of {$found[0]['kind']} cannot take a change back in its middle. After a backup of the "
                . 'database, change them: ' . implode(' ', $ways) . ' Nothing was changed.');
        }
    }

    public function has(string $table): bool
    {
        try {
            $this->pdo->query("SELECT 1 FROM `$table` WHERE 1 = 0");
            return true;
        } catch (PDOException) {
            return false;
        }
    }

    public function rows(string $sql, array $values = []): array
    {
        $statement = $this->pdo->prepare($sql);
        $statement->execute($values);
        return $statement->fetchAll();
    }

    /** A list for `IN`; an empty one fits nothing. */
    public static function marks(array $values): string
    {
        return $values === [] ? 'NULL' : implode(', ', array_fill(0, count($values), '?'));
    }

    /** The columns of the rows that have these values. */
    public function find(string $table, array $columns, array $where): array
    {
        [$condition, $values] = $this->condition($where);
        return $this->rows('SELECT ' . $this->names($columns) . " FROM `$table` WHERE $condition", $values);
    }

    public function insert(string $table, array $row): void
    {
        $marks = self::marks($row);
        $this->rows("INSERT INTO `$table` (" . $this->names(array_keys($row)) . ") VALUES ($marks)", array_values($row));
    }

    /** Answers how many rows had these values. */
    public function update(string $table, array $set, array $where): int
    {
        [$condition, $values] = $this->condition($where);
        $changes = implode(', ', array_map(fn ($column) => "`$column` = ?", array_keys($set)));
        $statement = $this->pdo->prepare("UPDATE `$table` SET $changes WHERE $condition");
        $statement->execute([...array_values($set), ...$values]);
        return $statement->rowCount();
    }

    public function delete(string $table, array $where): void
    {
        [$condition, $values] = $this->condition($where);
        $this->rows("DELETE FROM `$table` WHERE $condition", $values);
    }

    public function begin(): void
    {
        $this->pdo->beginTransaction();
    }

    public function commit(): void
    {
        $this->pdo->commit();
    }

    public function rollBack(): void
    {
        if ($this->pdo->inTransaction()) {
            $this->pdo->rollBack();
        }
    }

    private function names(array $columns): string
    {
        return implode(', ', array_map(fn ($column) => "`$column`", $columns));
    }

    private function condition(array $where): array
    {
        $parts = array_map(
            fn ($column, $value) => $value === null ? "`$column` IS NULL" : "`$column` = ?",
            array_keys($where),
            $where,
        );
        return [implode(' AND ', $parts), array_values(array_filter($where, fn ($value) => $value !== null))];
    }
}

/** The API of Berth, for the names of servers and customers. */
final class BerthApi
{
    private const TRIES = 3;

    public function __construct(private string $address, private string $token)
    {
    }

    public function call(string $method, string $path, ?array $body = null): array
    {
        for ($try = 1; ; $try++) {
            [$status, $answer] = $this->once($method, $path, $body);
            if ($status >= 200 && $status < 300) {
                return $answer;
            }
            if ($try === self::TRIES || ($status !== 0 && $status !== 429 && $status < 500)) {
                $words = $answer['error']['message'] ?? 'Berth gave no answer that makes sense.';
                throw new Refused("$method $path: $words (" . ($answer['error']['code'] ?? $status) . ')');
            }
            usleep($try * 500_000);
        }
    }

    private function once(string $method, string $path, ?array $body): array
    {
        $headers = "Authorization: Bearer {$this->token}\r\nAccept: application/json\r\n";
        $options = ['method' => $method, 'ignore_errors' => true, 'timeout' => 30, 'follow_location' => 0];
        if ($body !== null) {
            $headers .= "Content-Type: application/json\r\n";
            $options['content'] = json_encode($body, JSON_THROW_ON_ERROR);
        }
        $context = stream_context_create(['http' => $options + ['header' => $headers]]);
        $text = @file_get_contents(rtrim($this->address, '/') . "/api/v1$path", false, $context);
        $status = preg_match('/^HTTP\/\S+ (\d{3})/', $http_response_header[0] ?? '', $found) ? (int) $found[1] : 0;
        $answer = json_decode((string) $text, true);
        return [$status, is_array($answer) ? $answer : []];
    }
}

/** A billing system: its services on the panel of before, and what makes one of them a service of Berth. */
abstract class BillingSystem
{
    /** @param array{server: ?string, 'old-server': array, 'old-field': ?string, product: array} $options */
    public function __construct(protected Database $db, protected array $options)
    {
    }

    /** The first part of every name in Berth. */
    abstract public function name(): string;

    /** The columns without which this is another version. @return array<string, string[]> */
    abstract public function tables(): array;

    /** The eight characters that the module has made for this installation. Throws when there are none yet. */
    abstract public function installation(): string;

    /**
     * The active and suspended services of the panel of before.
     * @return array<array{id: string, client: string, email: string, product: string, label: string, old: string}>
     */
    abstract public function services(): array;

    /** Those on the panel of Berth, as `services()`; `old` is the id of the server, where it is kept here. */
    abstract public function switched(): array;

    /** The changes that make the service one of Berth. @return array<array> see Change */
    abstract public function changes(array $service, array $row): array;

    protected static function installationIn(string $kept, string $missing): string
    {
        $installation = explode('@', trim($kept))[0];
        return preg_match('/^[a-z0-9]{8}$/D', $installation) ? $installation : throw new Refused($missing);
    }

    /** The one row of a list that is meant. */
    protected function only(array $rows, ?string $wanted, string $what, string $option): array
    {
        $fit = $wanted === null ? $rows : array_filter($rows, fn ($row) => (string) $row['id'] === $wanted);
        if (count($fit) === 1) {
            return reset($fit);
        }
        $known = implode(', ', array_map(fn ($row) => "{$row['id']} ({$row['name']})", $rows)) ?: 'none';
        throw new Refused("Say which $what is meant with --$option ID. There are: $known.");
    }

    /** The ids of the entries of the panel of before. */
    protected function oldServers(array $entries): array
    {
        if ($this->options['old-server'] !== []) {
            return $this->options['old-server'];
        }
        return [(string) $this->only($entries, null, 'entry of the panel of before', 'old-server')['id']];
    }

    /** The product of Berth for a product of before: as it was said, or the only one that orders the same package. */
    protected function productFor(string $old, array $row, array $products): string
    {
        $said = $this->options['product'][$old] ?? null;
        if ($said !== null) {
            return in_array($said, array_map(fn ($one) => (string) $one['id'], $products), true)
                ? $said
                : throw new Refused("The product $said is none of the module of Berth.");
        }
        $fit = array_values(array_filter($products, fn ($one) => $one['package'] === $row['packageId']));
        return count($fit) === 1
            ? (string) $fit[0]['id']
            : throw new Refused("Say which product of Berth the product $old becomes: --product $old=NEW.");
    }

    protected static function update(string $table, array $key, array $before, array $after): array
    {
        $changed = array_filter($after, fn ($value, $column) => !same($before[$column] ?? null, $value), ARRAY_FILTER_USE_BOTH);
        if ($changed === []) {
            return [];
        }
        $kept = array_intersect_key($before, $changed);
        return [['do' => 'update', 'table' => $table, 'key' => $key, 'before' => $kept, 'after' => $changed]];
    }

    protected static function insert(string $table, array $key, array $rest): array
    {
        return [['do' => 'insert', 'table' => $table, 'key' => $key, 'rest' => $rest]];
    }

    /** A row that is there is changed, another one is made. */
    protected function put(string $table, array $key, array $set, array $rest = []): array
    {
        $found = $this->db->find($table, array_keys($set), $key);
        return $found === [] ? self::insert($table, $key, $set + $rest) : self::update($table, $key, $found[0], $set);
    }
}

function same(mixed $one, mixed $other): bool
{
    return $one === null || $other === null ? $one === $other : (string) $one === (string) $other;
}

/** The changes, kept in a file before they are made: an undo works on those that were not made, too. */
final class UndoFile
{
    public array $kept;

    public function __construct(private string $path, string $import)
    {
        $text = is_file($path) ? (string) file_get_contents($path) : '';
        $this->kept = $text === '' ? ['import' => $import, 'changes' => [], 'names' => []] : json_decode($text, true);
        if (($this->kept['import'] ?? null) !== $import) {
            throw new Refused("$path is not the file of this import.");
        }
    }

    /** The first state of a name stays, however often the script runs. */
    public function note(array $changes, array $names): void
    {
        array_push($this->kept['changes'], ...$changes);
        foreach ($names as $path => $name) {
            $before = $this->kept['names'][$path]['before'] ?? $name['before'];
            $this->kept['names'][$path] = ['before' => $before] + $name;
        }
        $part = "{$this->path}.part";
        $file = fopen($part, 'c');
        chmod($part, 0600);
        ftruncate($file, 0);
        fwrite($file, json_encode($this->kept, JSON_PRETTY_PRINT | JSON_THROW_ON_ERROR));
        fsync($file);
        fclose($file);
        rename($part, $this->path);
    }

    public function done(): void
    {
        rename($this->path, $this->path . '.done-' . gmdate('Ymd-His'));
    }
}

final class Switching
{
    private int $problems = 0;
    /** The name that this run gives each customer of Berth, so that two clients do not become one. */
    private array $clients = [];

    public function __construct(
        private Database $db,
        private BillingSystem $system,
        private BerthApi $berth,
        private array $import,
        private array $options,
    ) {
    }

    public function run(): int
    {
        $this->db->mustHave($this->system->tables());
        $this->db->mustTakeBack(array_keys($this->system->tables()));
        $undo = new UndoFile($this->options['undo-file'], $this->import['id']);
        return $this->options['undo'] ? $this->undo($undo) : $this->switch($undo);
    }

    private function switch(UndoFile $undo): int
    {
        $start = "{$this->system->name()}:{$this->system->installation()}:";
        $switched = array_column($this->system->switched(), null, 'id');
        $byServer = array_column($switched, null, 'old');
        $services = [];
        foreach ($this->system->services() as $service) {
            $services[$service['old']][] = $service;
        }
        $changes = $names = [];
        $count = ['switched' => 0, 'already' => 0];
        foreach ($this->import['rows'] as $row) {
            try {
                $server = $this->berth->call('GET', "/servers/{$row['serverId']}");
                $before = $byServer[$row['serverId']] ?? self::named($server, $start, $switched);
                $service = $before ?? $this->serviceOf($row, $services[$row['oldId']] ?? []);
                if ($service === null) {
                    continue;
                }
                $wanted = $before === null ? $this->system->changes($service, $row) : [];
                $called = $this->namesOf($start, $service, $server);
                if ($wanted === [] && $called === []) {
                    $count['already']++;
                    continue;
                }
                $count['switched']++;
                array_push($changes, ...$wanted);
                $names += $called;
                $this->say("service {$service['id']} ({$service['label']}): {$row['oldId']} becomes {$row['serverId']}");
                foreach ($wanted as $change) {
                    $this->say('    ' . $this->wordsOf($change));
                }
                foreach ($called as $path => $name) {
                    $this->say("    Berth $path: " . $this->shown($name['before']) . ' becomes ' . $this->shown($name['after']));
                }
            } catch (Refused $error) {
                $this->problem("{$row['oldId']} ({$row['hostname']}): {$error->getMessage()}");
            }
        }
        $this->say("{$count['switched']} to switch, {$count['already']} switched already, {$this->problems} with a problem.");
        if (!$this->options['apply']) {
            $this->say('Nothing was changed. Run it with --apply to do it.');
            return $this->problems === 0 ? 0 : 2;
        }
        if ($this->problems > 0 && !$this->options['skip-problems']) {
            $this->say('Nothing was changed, because of the problems. Mend them, or add --skip-problems.');
            return 2;
        }
        if ($changes !== [] || $names !== []) {
            // One field of a product serves all of its services.
            $changes = array_values(array_combine(array_map('json_encode', $changes), $changes));
            $undo->note($changes, $names);
            $this->apply($changes, $names);
            $this->say("Done. To take it back: --undo --apply (from {$this->options['undo-file']}).");
        }
        return 0;
    }

    /** A billing system that keeps no id of the server knows it by the name that Berth has for it. */
    private static function named(array $server, string $start, array $switched): ?array
    {
        $name = (string) ($server['billingServiceId'] ?? '');
        $found = str_starts_with($name, $start) ? $switched[substr($name, strlen($start))] ?? null : null;
        return $found !== null && $found['old'] === '' ? $found : null;
    }

    private function serviceOf(array $row, array $found): ?array
    {
        $only = $this->options['only'];
        if ($only !== [] && array_filter($found, fn ($one) => in_array($one['id'], $only, true)) === []) {
            return null;
        }
        if (count($found) !== 1) {
            $ids = implode(', ', array_column($found, 'id'));
            throw new Refused($found === [] ? 'no active service has it' : "several services have it: $ids");
        }
        return $found[0];
    }

    /** The names that Berth's module looks for. @return array<string, array{field: string, before: ?string, after: ?string}> */
    private function namesOf(string $start, array $service, array $server): array
    {
        if (($server['status'] ?? '') === 'terminated') {
            throw new Refused('its server in Berth is terminated');
        }
        $owner = $this->berth->call('GET', "/customers/{$server['owner']['id']}");
        $isSame = strtolower((string) $owner['email']) === strtolower(trim($service['email']));
        if (!$isSame && !$this->options['other-emails']) {
            throw new Refused("its client is {$service['email']}, and its owner in Berth is {$owner['email']}. If it is the "
                . 'same person, add --other-emails: Berth then takes the e-mail of the client');
        }
        $client = $start . $service['client'];
        if (($this->clients[$owner['id']] ??= $client) !== $client) {
            throw new Refused("the customer {$owner['id']} in Berth has servers of several clients");
        }
        return $this->renamed("/servers/{$server['id']}/billing", 'billingServiceId', $server, $start, $service['id'])
            + $this->renamed("/customers/{$owner['id']}", 'externalId', $owner, $start, $service['client']);
    }

    private function renamed(string $path, string $field, array $found, string $start, string $number): array
    {
        $before = $found[$field] ?? null;
        if ($before === $start . $number) {
            return [];
        }
        if ($before !== null && str_starts_with($before, $start)) {
            throw new Refused("in Berth it is called $before already");
        }
        return [$path => ['field' => $field, 'before' => $before, 'after' => $start . $number]];
    }

    /** All of it, or nothing: a name that Berth refuses takes everything back. */
    private function apply(array $changes, array $names): void
    {
        $done = [];
        $this->db->begin();
        try {
            foreach ($changes as $change) {
                $this->do($change);
            }
            foreach ($names as $path => $name) {
                $done[$path] = $name;
                $this->berth->call('PATCH', $path, [$name['field'] => $name['after']]);
            }
            $this->db->commit();
        } catch (Throwable $error) {
            $this->db->rollBack();
            foreach (array_reverse($done, true) as $path => $name) {
                $this->berth->call('PATCH', $path, [$name['field'] => $name['before']]);
            }
            throw $error;
        }
    }

    private function do(array $change): void
    {
        $key = $this->resolved($change['key']);
        if ($change['do'] === 'insert') {
            $this->db->insert($change['table'], $key + $change['rest']);
        } elseif ($this->db->update($change['table'], $change['after'], $key + $change['before']) !== 1) {
            throw new Refused("{$this->wordsOf($change)}: it was changed meanwhile. Nothing was changed; run it again.");
        }
    }

    /** A value that another change makes is looked up when it is needed. */
    private function resolved(array $key): ?array
    {
        foreach ($key as $column => $value) {
            if (is_array($value)) {
                $found = $this->db->find($value['table'], [$value['column']], $value['where']);
                if ($found === []) {
                    return null;
                }
                $key[$column] = $found[0][$value['column']];
            }
        }
        return $key;
    }

    private function undo(UndoFile $undo): int
    {
        $names = [];
        foreach ($undo->kept['names'] as $path => $name) {
            $read = str_ends_with($path, '/billing') ? substr($path, 0, -strlen('/billing')) : $path;
            $now = $this->berth->call('GET', $read)[$name['field']] ?? null;
            if ($now === $name['after']) {
                $names[$path] = ['field' => $name['field'], 'before' => $name['after'], 'after' => $name['before']];
            } elseif ($now !== $name['before']) {
                $this->problem("Berth $path is called $now since; it is left");
            }
        }
        $back = array_values(array_filter(array_map($this->backOf(...), array_reverse($undo->kept['changes']))));
        foreach ($back as $change) {
            $this->say($this->wordsOf($change));
        }
        $this->say(count($back) . ' changes and ' . count($names) . " names to take back, {$this->problems} left as they are.");
        if (!$this->options['apply']) {
            $this->say('Nothing was changed. Run it with --undo --apply to do it.');
            return 0;
        }
        $this->db->begin();
        try {
            foreach ($back as $change) {
                $change['do'] === 'delete'
                    ? $this->db->delete($change['table'], $change['key'])
                    : $this->db->update($change['table'], $change['after'], $change['key'] + $change['before']);
            }
            foreach ($names as $path => $name) {
                $this->berth->call('PATCH', $path, [$name['field'] => $name['after']]);
            }
            $this->db->commit();
        } catch (Throwable $error) {
            $this->db->rollBack();
            throw $error;
        }
        if ($undo->kept['changes'] !== [] || $undo->kept['names'] !== []) {
            $undo->done();
        }
        $this->say('Taken back.');
        return 0;
    }

    /** Null: it did not happen, or somebody has changed it since. */
    private function backOf(array $change): ?array
    {
        $key = $this->resolved($change['key']);
        $wanted = $change['after'] ?? $change['rest'];
        $found = $key === null ? [] : $this->db->find($change['table'], array_keys($wanted), $key);
        if ($found === []) {
            return null;
        }
        $is = fn (array $row) => array_filter($row, fn ($value, $column) => !same($value, $found[0][$column]), ARRAY_FILTER_USE_BOTH) === [];
        if ($is($wanted)) {
            return $change['do'] === 'insert'
                ? ['do' => 'delete', 'table' => $change['table'], 'key' => $key]
                : ['key' => $key, 'before' => $change['after'], 'after' => $change['before']] + $change;
        }
        if (!isset($change['before']) || !$is($change['before'])) {
            $this->problem("{$this->wordsOf($change)}: it was changed since; it is left");
        }
        return null;
    }

    private function wordsOf(array $change): string
    {
        $where = implode(', ', array_map(
            fn ($column, $value) => "$column " . (is_array($value) ? 'of the new field' : $this->shown($value)),
            array_keys($change['key']),
            $change['key'],
        ));
        if ($change['do'] !== 'update') {
            return "{$change['table']}: " . ($change['do'] === 'insert' ? 'new row' : 'delete') . " ($where)";
        }
        $set = array_map(
            fn ($column, $value) => "$column {$this->shown($change['before'][$column])} becomes {$this->shown($value)}",
            array_keys($change['after']),
            $change['after'],
        );
        return "{$change['table']} ($where): " . implode(', ', $set);
    }

    private function shown(mixed $value): string
    {
        return $value === null ? 'nothing' : (string) preg_replace('/[^\x20-\x7e]/', '?', (string) $value);
    }

    private function problem(string $words): void
    {
        $this->problems++;
        $this->say('PROBLEM ' . $this->shown($words));
    }

    private function say(string $line): void
    {
        echo $line, "\n";
    }
}

/** The options of the command line. Throws for one that does not exist: a typing error must not apply anything. */
function optionsOf(array $arguments, string $import): array
{
    $options = [
        'apply' => false, 'undo' => false, 'skip-problems' => false, 'other-emails' => false, 'server' => null,
        'old-server' => [], 'old-field' => null, 'product' => [], 'only' => [], 'undo-file' => "berth-switch-$import.undo.json",
    ];
    for ($at = 0; $at < count($arguments); $at++) {
        [$name, $value] = explode('=', substr($arguments[$at], 2), 2) + [1 => null];
        if (!str_starts_with($arguments[$at], '--') || !array_key_exists($name, $options)) {
            throw new Refused("Unknown option {$arguments[$at]}. The head of this file says what there is.");
        }
        if (is_bool($options[$name])) {
            $options[$name] = true;
            continue;
        }
        $value ??= $arguments[++$at] ?? throw new Refused("--$name needs a value.");
        if ($name === 'product') {
            if (!preg_match('/^([^=]+)=([^=]+)$/D', $value, $pair)) {
                throw new Refused('--product needs OLD=NEW.');
            }
            $options['product'][$pair[1]] = $pair[2];
        } else {
            $options[$name] = is_array($options[$name]) ? array_map('trim', explode(',', $value)) : $value;
        }
    }
    return $options;
}

function fromEnvironment(string $name): string
{
    return getenv($name) ?: throw new Refused("Set $name in the environment. The head of this file says to what.");
}

/** @param class-string<BillingSystem> $system */
function main(array $arguments, string $system, array $import): int
{
    try {
        $options = optionsOf($arguments, $import['id']);
        $db = new Database(fromEnvironment('BILLING_DSN'), getenv('BILLING_USER') ?: null, getenv('BILLING_PASSWORD') ?: null);
        $address = getenv('BERTH_ADDRESS') ?: $import['address'];
        $berth = new BerthApi($address, fromEnvironment('BERTH_TOKEN'));
        return (new Switching($db, new $system($db, $options + ['kind' => $import['kind'], 'rows' => $import['rows']]), $berth, $import, $options))->run();
    } catch (Refused | PDOException $error) {
        fwrite(STDERR, $error->getMessage() . "\n");
        return 1;
    }
}
