<?php
// A stand-in for Blesta as its documentation describes modules: the base class, the errors of the input, fields, views
// and the clients. Calls one method and holds its answer to the documentation.
require __DIR__ . '/hold.php';

final class Language
{
    private static array $texts = [];
    public static function loadLang(string $file, ?string $language, string $folder): void
    {
        $lang = [];
        require $folder . "en_us/$file.php";
        self::$texts = $lang;
    }
    public static function _(string $key, bool $return = false): string
    {
        hold(isset(self::$texts[$key]), "the language file has $key");
        if (!$return) {
            echo self::$texts[$key];
        }
        return self::$texts[$key];
    }
}
final class Input
{
    private array $rules = [];
    private array|false $errors = false;
    public function setRules(array $rules): void
    {
        $this->rules = $rules;
    }
    public function validates(array &$vars): bool
    {
        foreach ($this->rules as $field => $checks) {
            foreach ($checks as $check) {
                $value = (string) ($vars[$field] ?? '');
                $fits = is_array($check['rule']) ? preg_match($check['rule'][1], $value) === 1 : $value === '';
                if ($fits === ($check['negate'] ?? false)) {
                    $this->errors[$field]['rule'] = $check['message'];
                }
            }
        }
        return $this->errors === false;
    }
    public function setErrors(array $errors): void
    {
        $this->errors = $errors;
    }
    public function errors(): array|false
    {
        return $this->errors;
    }
}
final class Clients
{
    public function get(int $id): object
    {
        return (object) ['id' => $id, 'first_name' => 'Cal', 'last_name' => 'Customer', 'email' => 'cal@example.com', 'company' => ''];
    }
}
final class Loader
{
    public static function loadComponents(object $to, array $names): void
    {
        foreach ($names as $name) {
            $to->$name = new $name();
        }
    }
    public static function loadModels(object $to, array $names): void
    {
        self::loadComponents($to, $names);
    }
    public static function loadHelpers(object $to, array $names): void
    {
    }
}
final class ModuleFields
{
    public array $fields = [];
    public function label(string $text, string $for): object
    {
        return new class ($text) {
            public array $attached = [];
            public function __construct(public string $text)
            {
            }
            public function attach(array $field): void
            {
                $this->attached[] = $field;
            }
        };
    }
    public function fieldText(string $name, mixed $value, array $attributes): array
    {
        return ['name' => $name, 'value' => $value];
    }
    public function fieldSelect(string $name, array $options, mixed $value, array $attributes): array
    {
        return ['name' => $name, 'options' => $options, 'value' => $value];
    }
    public function setField(object $label): void
    {
        hold($label->attached !== [], 'a label has a field');
        $this->fields[] = $label->attached[0];
    }
}
final class Helper
{
    public function __call(string $name, array $given): void
    {
    }
    public function safe(string $text): string
    {
        return htmlspecialchars($text);
    }
}
#[AllowDynamicProperties]
final class View
{
    private array $values = [];
    public function __construct(private string $name, string $view)
    {
        foreach (['Html', 'Form', 'Widget'] as $helper) {
            $this->$helper = new Helper();
        }
    }
    public function setDefaultView(string $path): void
    {
        hold($path === 'components/modules/berth/', 'a view is looked for in the folder of the module');
    }
    public function set(string $name, mixed $value): void
    {
        $this->values[$name] = $value;
    }
    public function _(string $key, bool $return = false): string
    {
        return Language::_($key, $return);
    }
    public function fetch(): string
    {
        extract($this->values);
        ob_start();
        require getenv('MODULE') . "/berth/views/default/{$this->name}.pdt";
        return ob_get_clean();
    }
}
#[AllowDynamicProperties]
abstract class Module
{
    public static object $row;
    public static array $logged = [];
    public string $base_uri = '/admin/';
    protected function loadConfig(string $file): void
    {
        $config = json_decode(file_get_contents($file), true, 512, JSON_THROW_ON_ERROR);
        hold(isset($config['version'], $config['name'], $config['authors'], $config['module']['row_key']), 'the settings of the module are complete');
    }
    public function getModuleRow($id = null): object
    {
        return self::$row;
    }
    public function getModuleRows(): array
    {
        return [self::$row];
    }
    protected function serviceFieldsToObject(array $fields): object
    {
        return (object) array_column(array_map(fn ($field) => (array) $field, $fields), 'value', 'key');
    }
    protected function log(string $url, string $data, string $direction, bool $success): void
    {
        hold(in_array($direction, ['input', 'output'], true), 'a line of the log has a direction');
        self::$logged[] = "$url $data";
    }
}

require getenv('MODULE') . '/berth/berth.php';
hurry();

$input = json_decode(stream_get_contents(STDIN), true);
['action' => $action, 'row' => $row, 'meta' => $meta, 'fields' => $fields, 'vars' => $vars] = $input;
Module::$row = (object) ['id' => 1, 'meta' => (object) $row];
$module = new Berth();
$package = (object) ['id' => 1, 'meta' => (object) $meta];
$service = (object) ['id' => 17, 'fields' => array_map(fn ($field) => (object) $field, $fields)];
$none = [];
$answer = match ($action) {
    'test' => $module->addModuleRow($row),
    'options' => $module->getPackageFields((object) ['module_row' => 1, 'meta' => []])->fields,
    'create' => $module->addService($package, $vars + ['client_id' => 4711]),
    'suspend' => $module->suspendService($package, $service),
    'unsuspend' => $module->unsuspendService($package, $service),
    'upgrade' => $module->changeServicePackage($package, $package, $service),
    'terminate' => $module->cancelService($package, $service),
    'link' => $module->tabPanel($package, $service),
    'status' => $module->tabServer($package, $service),
    'pages' => $module->manageModule((object) ['id' => 1, 'rows' => [Module::$row]], $none) . $module->manageAddRow($none) . $module->manageEditRow(Module::$row, $none),
};
$errors = $module->Input->errors();
hold(!in_array($action, ['suspend', 'unsuspend', 'upgrade', 'terminate'], true) || $answer === null, 'null keeps the fields as they are');
if (in_array($action, ['create', 'test'], true) && $errors === false) {
    foreach ($answer as $field) {
        hold(array_keys($field) === ['key', 'value', 'encrypted'], 'a field has key, value and encrypted');
    }
}
$words = $errors === false ? null : implode(' ', array_merge(...array_map('array_values', array_values($errors))));
echo json_encode(['error' => $words, 'answer' => $answer, 'log' => Module::$logged]);
