<?php
// A stand-in for Blesta as its documentation describes modules: the base class, the errors of the input, fields, views,
// the clients and the companies. Calls a method for each line of its input and holds its answer to the documentation.
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
                    $this->errors = $this->errors ?: [];
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
    public static array $known = [];
    public function get(int $id): object
    {
        $cal = ['first_name' => 'Cal', 'last_name' => 'Customer', 'email' => 'cal@example.com', 'company' => ''];
        return (object) (['id' => $id] + self::$known + $cal);
    }
}
final class Configure
{
    public static function get(string $name): int
    {
        hold($name === 'Blesta.company_id', 'only the company is configured');
        return 1;
    }
}
final class Companies
{
    public static string $hostname = 'billing.example.com';
    public function get(int $id): object
    {
        return (object) ['id' => $id, 'name' => 'Hosting', 'hostname' => self::$hostname];
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
    public function fieldHidden(string $name, mixed $value, array $attributes = []): array
    {
        return ['name' => $name, 'value' => $value, 'hidden' => true];
    }
    public function setField(object|array $field): void
    {
        hold(is_array($field) || $field->attached !== [], 'a label has a field');
        $this->fields[] = is_array($field) ? $field : $field->attached[0];
    }
}
final class Html
{
    public function safe(string $text): string
    {
        return htmlspecialchars($text);
    }
}
/** Writes what it is asked for, as the helper does: a form that is never opened, or has no such field, is seen. */
final class Form
{
    public function create(?string $to = null, array $attributes = []): void
    {
        $this->tag('form', ['action' => $to ?? ''] + $attributes);
    }
    public function end(): void
    {
        echo '</form>';
    }
    public function label(string $text, string $for, array $attributes = []): void
    {
        $this->tag('label', ['for' => $for] + $attributes);
        echo htmlspecialchars($text), '</label>';
    }
    public function fieldText(string $name, mixed $value, array $attributes = []): void
    {
        $this->tag('input', ['type' => 'text', 'name' => $name, 'value' => (string) $value] + $attributes);
    }
    public function fieldPassword(string $name, array $attributes = []): void
    {
        $this->tag('input', ['type' => 'password', 'name' => $name] + $attributes);
    }
    public function fieldHidden(string $name, mixed $value, array $attributes = []): void
    {
        $this->tag('input', ['type' => 'hidden', 'name' => $name, 'value' => (string) $value] + $attributes);
    }
    public function fieldSubmit(string $name, string $value, array $attributes = []): void
    {
        $this->tag('input', ['type' => 'submit', 'name' => $name, 'value' => $value] + $attributes);
    }
    private function tag(string $name, array $attributes): void
    {
        echo "<$name";
        foreach ($attributes as $attribute => $value) {
            echo " $attribute=\"", htmlspecialchars($value), '"';
        }
        echo '>';
    }
}
final class Widget
{
    private array $buttons = [];
    public function clear(): void
    {
        $this->buttons = [];
    }
    public function setLinkButtons(array $buttons): void
    {
        $this->buttons = $buttons;
    }
    public function create(string $title, array $attributes = []): void
    {
        echo '<h2>', htmlspecialchars($title), '</h2>';
        foreach ($this->buttons as $button) {
            echo '<a href="', htmlspecialchars($button['attributes']['href']), '">', htmlspecialchars($button['name']), '</a>';
        }
    }
    public function end(): void
    {
    }
}
#[AllowDynamicProperties]
final class View
{
    private array $values = [];
    public function __construct(private string $name, string $view)
    {
        foreach (['Html', 'Form', 'Widget'] as $helper) {
            $this->$helper = new $helper();
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
    public static ?object $row;
    public static array $config = [];
    public static array $logged = [];
    public string $base_uri = '/admin/';
    protected function loadConfig(string $file): void
    {
        $config = json_decode(file_get_contents($file), true, 512, JSON_THROW_ON_ERROR);
        $names = ['module' => 'row_key', 'package' => 'name_key', 'service' => 'name_key'];
        hold(isset($config['version'], $config['name'], $config['authors']), 'the settings of the module are complete');
        foreach ($names as $of => $key) {
            hold(isset($config[$of][$key]), "Blesta finds the label of a $of");
        }
        self::$config = $config;
    }
    public function getModuleRow($id = null): ?object
    {
        return self::$row;
    }
    public function getModuleRows(): array
    {
        return self::$row === null ? [] : [self::$row];
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

/** The fields of a form, as a browser sends them back. */
function posted(ModuleFields $form): array
{
    return array_column($form->fields, 'value', 'name');
}

function handle(array $call): array
{
    ['action' => $action, 'row' => $row] = $call;
    $vars = $call['vars'] ?? [];
    Module::$logged = [];
    Module::$row = $row === null ? null : (object) ['id' => 1, 'module_id' => 2, 'meta' => (object) $row];
    Clients::$known = $call['client'] ?? [];
    Companies::$hostname = $call['host'] ?? 'billing.example.com';
    $module = new Berth();
    $package = (object) ['id' => 1, 'meta' => (object) ($call['meta'] ?? [])];
    $clientId = $call['client']['id'] ?? 4711;
    $service = (object) [
        'id' => $call['service'] ?? 17,
        'client_id' => $clientId,
        'fields' => array_map(fn ($field) => (object) $field, $call['fields'] ?? []),
    ];
    $none = [];
    $answer = match ($action) {
        'test' => $module->addModuleRow($vars),
        'edit' => $module->editModuleRow(Module::$row, $vars),
        'delete' => $module->deleteModuleRow(Module::$row),
        'options' => $module->getPackageFields((object) ['module_row' => 1, 'meta' => []])->fields,
        'staff form' => posted($module->getAdminAddFields($package, (object) $vars)),
        'client form' => posted($module->getClientAddFields($package, (object) $vars)),
        'create' => $module->addService($package, $vars + ['client_id' => $clientId]),
        'suspend' => $module->suspendService($package, $service),
        'unsuspend' => $module->unsuspendService($package, $service),
        'upgrade' => $module->changeServicePackage($package, $package, $service),
        'terminate' => $module->cancelService($package, $service),
        'renew' => $module->renewService($package, $service),
        'link' => $module->tabPanel($package, $service),
        'status' => $module->tabServer($package, $service),
        'manage' => $module->manageModule((object) ['id' => 2, 'rows' => array_filter([Module::$row])], $none),
        'add form' => $module->manageAddRow($vars),
        'edit form' => $module->manageEditRow(Module::$row, $vars),
    };
    $errors = $module->Input->errors();
    $keeps = ['suspend', 'unsuspend', 'upgrade', 'terminate', 'renew'];
    hold(!in_array($action, $keeps, true) || $answer === null, 'null keeps the fields as they are');
    if (in_array($action, ['create', 'test', 'edit'], true) && $errors === false) {
        foreach ($answer as $field) {
            hold(array_keys($field) === ['key', 'value', 'encrypted'], 'a field has key, value and encrypted');
        }
        $keys = array_column($answer, 'key');
        $label = $action === 'create' ? Module::$config['service']['name_key'] : Module::$config['module']['row_key'];
        hold(in_array($label, $keys, true), "the label $label is one of the fields");
    }
    $words = $errors === false ? null : implode(' ', array_merge(...array_map('array_values', array_values($errors))));
    return ['error' => $words, 'answer' => $answer, 'log' => Module::$logged];
}

serve(handle(...));
