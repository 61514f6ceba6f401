<?php
// A stand-in for WHMCS as its public documentation describes it: the functions, classes and tables that a provisioning
// module may use, over a JSON file that several processes share. It is none of WHMCS's code.

namespace WHMCS\Database {
    /** A value that the database works out itself. */
    final class Raw
    {
        public function __construct(public string $sql)
        {
        }
        public function value(): string
        {
            return $this->sql === 'now()' ? date('Y-m-d H:i:s') : throw new \Exception("the stand-in cannot work out {$this->sql}");
        }
    }

    /** Rows of a table, with the few methods of the query builder that the module uses. */
    final class Query
    {
        /** Columns of the real tables that may be written. */
        private const WRITABLE = [
            'tblhosting' => ['dedicatedip', 'disklimit', 'diskusage', 'bwlimit', 'bwusage', 'lastupdate', 'suspendreason', 'domainstatus', 'username', 'password'],
            'tblhostingaddons' => ['status'],
            'tblservers' => ['username'],
        ];
        private array $conditions = [];

        public function __construct(private string $table)
        {
        }
        public function where(string $column, mixed $value): self
        {
            $this->conditions[$column] = $value;
            return $this;
        }
        public function get(): array
        {
            return array_map(fn ($row) => (object) $row, array_values(array_filter(\standin()[$this->table], $this->fits(...))));
        }
        public function first(): ?object
        {
            return $this->get()[0] ?? null;
        }
        public function value(string $column): mixed
        {
            return $this->first()?->$column;
        }
        public function update(array $values): int
        {
            $unknown = array_diff(array_keys($values), self::WRITABLE[$this->table] ?? []);
            if ($unknown !== []) {
                throw new \Exception("{$this->table} has no column " . implode(', ', $unknown));
            }
            $values = array_map(fn ($value) => $value instanceof Raw ? $value->value() : $value, $values);
            return \standin_change(function (array &$state) use ($values) {
                $changed = 0;
                foreach ($state[$this->table] as &$row) {
                    if ($this->fits($row)) {
                        $row = $values + $row;
                        $changed++;
                    }
                }
                return $changed;
            });
        }
        private function fits(array $row): bool
        {
            foreach ($this->conditions as $column => $value) {
                if (!array_key_exists($column, $row)) {
                    throw new \Exception("{$this->table} has no column $column");
                }
                if ($row[$column] != $value) {
                    return false;
                }
            }
            return true;
        }
    }
    final class Capsule
    {
        public static function table(string $name): Query
        {
            if (!in_array($name, ['tblhosting', 'tblhostingaddons', 'tblservers', 'tblconfiguration'], true)) {
                throw new \Exception("the stand-in has no table $name");
            }
            return new Query($name);
        }
        public static function raw(string $sql): Raw
        {
            return new Raw($sql);
        }
    }
}

namespace WHMCS\Service {
    /** Properties of a service or an add-on. Some of a service are columns; an add-on has custom fields for all. */
    final class Properties
    {
        private const COLUMNS = [
            'Username' => 'username', 'Password' => 'password', 'Domain' => 'domain', 'Dedicated IP' => 'dedicatedip',
            'Disk Usage' => 'diskusage', 'Disk Limit' => 'disklimit', 'Bandwidth Usage' => 'bwusage',
            'Bandwidth Limit' => 'bwlimit', 'Last Update' => 'lastupdate',
        ];
        public function __construct(private string $table, private int $id)
        {
        }
        public function get(string $name): string
        {
            $column = $this->columnOf($name);
            foreach (\standin()[$this->table] as $row) {
                if ($row['id'] === $this->id) {
                    return (string) ($column === null ? $row['fields'][$name] ?? '' : $row[$column] ?? '');
                }
            }
            return '';
        }
        public function save(array $values): bool
        {
            foreach ($values as $name => $value) {
                if (!is_string($value)) {
                    throw new \Exception("the service property $name is a text");
                }
            }
            \standin_change(function (array &$state) use ($values) {
                foreach ($state[$this->table] as &$row) {
                    foreach ($row['id'] === $this->id ? $values : [] as $name => $value) {
                        $column = $this->columnOf($name);
                        if ($column === null) {
                            $row['fields'][$name] = $value;
                        } else {
                            $row[$column] = $value;
                        }
                    }
                }
            });
            return true;
        }
        private function columnOf(string $name): ?string
        {
            return $this->table === 'tblhosting' ? self::COLUMNS[$name] ?? null : null;
        }
    }
    class Service
    {
        public Properties $serviceProperties;
        public function __construct(string $table, int $id)
        {
            $this->serviceProperties = new Properties($table, $id);
        }
        public static function find(int $id): self
        {
            return new self('tblhosting', $id);
        }
    }
    final class Addon
    {
        public Properties $serviceProperties;
        public function __construct(int $id)
        {
            $this->serviceProperties = new Properties('tblhostingaddons', $id);
        }
        public static function find(int $id): self
        {
            return new self($id);
        }
    }
}

namespace {
    define('WHMCS', true);
    // Not UTC, as most installations are.
    date_default_timezone_set('America/New_York');

    /** The state of the installation. */
    function standin(): array
    {
        return json_decode(file_get_contents(getenv('STANDIN_STATE')), true);
    }

    /** One change of the state, as a statement of the database is: readers see it before or after. */
    function standin_change(callable $change): mixed
    {
        $file = getenv('STANDIN_STATE');
        $lock = fopen("$file.lock", 'c');
        flock($lock, LOCK_EX);
        $state = standin();
        $answer = $change($state);
        file_put_contents("$file.new", json_encode($state));
        rename("$file.new", $file);
        fclose($lock);
        return $answer;
    }

    function standin_row(string $table, int $id): array
    {
        foreach (standin()[$table] as $row) {
            if ($row['id'] === $id) {
                return $row;
            }
        }
        throw new Exception("the stand-in has no $table with the id $id");
    }

    function logModuleCall(string $module, string $action, mixed $request, mixed $response, mixed $data = '', array $mask = []): void
    {
        $line = str_replace($mask, '***', json_encode([$module, $action, $request, $response]));
        file_put_contents(getenv('STANDIN_STATE') . '.log', "$line\n", FILE_APPEND);
    }

    function logActivity(string $text, int $userId = 0): void
    {
        file_put_contents(getenv('STANDIN_STATE') . '.log', "$text\n", FILE_APPEND);
    }

    function decrypt(string $text): string
    {
        return base64_decode($text);
    }

    function localAPI(string $command, array $values): array
    {
        $states = ['Pending', 'Active', 'Completed', 'Suspended', 'Terminated', 'Cancelled', 'Fraud'];
        $known = [
            'UpdateClientProduct' => ['tblhosting', 'serviceid', 'domainstatus', ['status', 'suspendreason', 'dedicatedip']],
            'UpdateClientAddon' => ['tblhostingaddons', 'id', 'status', ['status']],
        ];
        [$table, $key, $column, $parameters] = $known[$command] ?? [null, '', '', []];
        $id = $values[$key] ?? null;
        unset($values[$key]);
        if ($table === null || array_diff(array_keys($values), $parameters) !== [] || !in_array($values['status'] ?? 'Active', $states, true)) {
            return ['result' => 'error', 'message' => 'the stand-in does not know this'];
        }
        if (isset($values['status'])) {
            $values[$column] = $values['status'];
            if ($column !== 'status') {
                unset($values['status']);
            }
        }
        $changed = \WHMCS\Database\Capsule::table($table)->where('id', $id)->update($values);
        return $changed === 1 ? ['result' => 'success'] : ['result' => 'error', 'message' => 'ID Not Found'];
    }

    /** Hooks by the event that they wait for. */
    $GLOBALS['standin_hooks'] = [];
    function add_hook(string $event, int $priority, callable $hook): void
    {
        $GLOBALS['standin_hooks'][$event][] = $hook;
    }
}
